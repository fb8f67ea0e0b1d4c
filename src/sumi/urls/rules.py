"""Which differences between two URLs do not matter: one field per rule, and a named set of rules per job.

They only decide which pages are the same: a URL is requested as it was written (see ``spelling_of``).

Under every set the fragment, userinfo, default port and a host's trailing dot are removed, the host is in
lower case (IDNA) and dot segments are resolved.
"""

from collections.abc import Iterable
from functools import lru_cache

import msgspec

from sumi.policy import Preset, UrlLimits


class Rules(msgspec.Struct, frozen=True, cache_hash=True):
    force_https: bool = False  # http becomes https; a port that is not http's default stays
    strip_www: bool = False  # leading www labels, as long as a dotted name remains
    tidy_escapes: bool = False  # %41 is A; what must stay escaped is written in upper case
    collapse_slashes: bool = False
    strip_trailing_slash: bool = False
    keep_params: frozenset[str] | None = None  # the only query parameters to keep; None: all
    drop_params: frozenset[str] = frozenset()
    drop_param_prefixes: tuple[str, ...] = ()
    keep_empty_query: bool = False  # /a? is not /a
    sort_query: bool = False  # by name; parameters of one name keep their order
    max_length: int = UrlLimits().length

    @property
    def edits_place(self) -> bool:
        """Whether the rules may change anything before the query."""
        return (
            self.force_https
            or self.strip_www
            or self.tidy_escapes
            or self.collapse_slashes
            or self.strip_trailing_slash
        )

    @property
    def edits_query(self) -> bool:
        """Whether the parameters must be looked at one by one."""
        return (
            self.sort_query
            or self.keep_params is not None
            or bool(self.drop_params or self.drop_param_prefixes)
        )


@lru_cache(maxsize=64)
def spelling_of(rules: Rules) -> Rules:
    """The rules for a URL that is requested: as it was found, except for what the user decided about requests
    themselves: https only, and which parameters to send."""
    return Rules(
        force_https=rules.force_https,
        keep_params=rules.keep_params,
        keep_empty_query=rules.keep_empty_query,
        max_length=rules.max_length,
    )


_TRACKING = frozenset({"fbclid", "gclid", "mc_eid", "ref", "source"})
_TRACKING_PREFIXES = ("utm_",)


def crawl_rules(keep_params: Iterable[str] = ()) -> Rules:
    """The crawl preset, with the query parameters that distinguish pages on this site."""
    return Rules(collapse_slashes=True, strip_trailing_slash=True, keep_params=frozenset(keep_params))


def map_rules(*, allow_http: bool = False) -> Rules:
    """The map preset; ``allow_http`` distinguishes http from https, for intranets without TLS."""
    return Rules(
        force_https=not allow_http,
        strip_www=True,
        tidy_escapes=True,
        strip_trailing_slash=True,
        drop_params=_TRACKING,
        drop_param_prefixes=_TRACKING_PREFIXES,
        sort_query=True,
    )


PRESETS: dict[Preset, Rules] = {
    Preset.MIRROR: Rules(),
    Preset.CRAWL: crawl_rules(),
    Preset.MAP: map_rules(),
    Preset.MAP_WITH_HTTP: map_rules(allow_http=True),
    Preset.CAPTURE: Rules(
        strip_trailing_slash=True,
        drop_params=_TRACKING,
        drop_param_prefixes=_TRACKING_PREFIXES,
        sort_query=True,
    ),
    Preset.LISTED: Rules(keep_empty_query=True),
}


@lru_cache(maxsize=64)
def rules_for(preset: Preset, keep_params: tuple[str, ...] = ()) -> Rules:
    """A preset; with ``keep_params``, these are the only query parameters that are kept."""
    rules = PRESETS[preset]
    return msgspec.structs.replace(rules, keep_params=frozenset(keep_params)) if keep_params else rules
