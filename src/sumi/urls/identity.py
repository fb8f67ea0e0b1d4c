"""The identity of a URL: two spellings with the same identity are one page.

It is only a name. The spelling that was found is what is requested, since a server may know only that one.

Where the standard leaves room: a host's single trailing dot is dropped (the same server answers); host names
that DNS cannot hold (empty labels, a label over 63 or a name over 253 characters) are malformed.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote_plus

from sumi.policy import Preset
from sumi.urls.parts import DEFAULT_PORTS, encoded, serialized, split, split_authority
from sumi.urls.rules import PRESETS, Rules, spelling_of

_UNRESERVED: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_DECODED: Final = {f"{ord(char):02X}": char for char in _UNRESERVED}
_ESCAPE: Final = re.compile("%([0-9A-Fa-f]{2})")
_STRAY: Final = re.compile("%(?![0-9A-Fa-f]{2})")


def tidy_escapes(text: str) -> str:
    """Decodes unreserved characters, writes other escapes in upper case, and escapes a stray ``%``.

    A stray one could become part of a new escape when its neighbours are decoded (``%%32%65`` would become
    ``%2e``), and the same URL would have two identities.
    """
    if "%" not in text:
        return text
    return _ESCAPE.sub(_tidied, _STRAY.sub("%25", text))


def tidy_path(url: str) -> str:
    """The path of a URL, as patterns and rules are compared with it."""
    return tidy_escapes(split(url).path)


def _tidied(escape: re.Match[str]) -> str:
    digits = escape[1].upper()
    return _DECODED.get(digits, "%" + digits)


def tidy_query(query: str, rules: Rules) -> str:
    """Drops and sorts parameters by the rules. Each keeps its spelling: ``a`` and ``a=`` stay different."""
    named = [(_name(piece), piece) for piece in query.split("&") if piece]
    kept = [pair for pair in named if _is_kept(pair[0], rules)]
    if rules.sort_query:
        # By name alone: the order of repeated parameters may mean something, and sorting is stable.
        kept.sort(key=_by_name)
    return "&".join(piece for _, piece in kept)


def _name(piece: str) -> str:
    """The parameter's name as a server reads it."""
    raw = piece.partition("=")[0]
    return unquote_plus(raw) if "%" in raw or "+" in raw else raw


def _by_name(pair: tuple[str, str]) -> str:
    return pair[0]


def _is_kept(name: str, rules: Rules) -> bool:
    if rules.keep_params is not None and name not in rules.keep_params:
        return False
    return name not in rules.drop_params and not name.startswith(rules.drop_param_prefixes)


_SLASHES: Final = re.compile("/{2,}")
_MAX_HOST: Final = 253
_MAX_LABEL: Final = 63


class Spelled(NamedTuple):
    """A URL as it was written: the page that it names, and what to request."""

    identity: str
    address: str  # "" if it is the identity

    @property
    def target(self) -> str:
        return self.address or self.identity


def normalize(url: str, preset: Preset, base: str | None = None) -> str | None:
    """The identity of ``url`` under a preset; None if it is malformed, too long or not http(s).

    Never raises, and normalizing the result again changes nothing.
    """
    return normalize_with(url, PRESETS[preset], base)


def normalize_with(url: str, rules: Rules, base: str | None = None) -> str | None:
    """``normalize`` with explicit rules."""
    if base is None:
        return resolve(url, rules, None)
    encoded_base = encoded(base)
    return None if encoded_base is None else resolve(url, rules, encoded_base)


def resolve(url: str, rules: Rules, base: bytes | None) -> str | None:
    """``normalize_with`` for a base that is encoded once and used often."""
    if len(url) > rules.max_length:
        return None
    href = serialized(url, base)
    return None if href is None else identity_of(href, rules)


def spelled(url: str, rules: Rules, base: str | None = None) -> Spelled | None:
    """``normalize_with``, and what to request; None if that is None."""
    encoded_base = None if base is None else encoded(base)
    if len(url) > rules.max_length or (base is not None and encoded_base is None):
        return None
    href = serialized(url, encoded_base)
    return None if href is None else spelled_href(href, rules)


def spelled_href(href: str, rules: Rules) -> Spelled | None:
    """``href`` must be serialized already."""
    identity = identity_of(href, rules)
    if identity is None:
        return None
    if identity == href:  # as most links are
        return Spelled(identity, "")
    address = identity_of(href, spelling_of(rules))
    return Spelled(identity, "" if address is None or address == identity else address)


def identity_of(href: str, rules: Rules) -> str | None:
    """``href`` must be serialized already."""
    scheme, _, rest = href.partition("://")
    if scheme not in DEFAULT_PORTS:
        return None
    rest, mark, query = rest.partition("#")[0].partition("?")
    authority = rest.partition("/")[0]
    site = _site(scheme, authority, rules.force_https, rules.strip_www)
    if site is None:
        return None
    url = site + _tidy_path(rest[len(authority) :], rules)
    if query and rules.tidy_escapes:
        query = tidy_escapes(query)
    if query and rules.edits_query:
        query = tidy_query(query, rules)
    if query or (mark and rules.keep_empty_query):
        url = f"{url}?{query}"
    return url if len(url) <= rules.max_length else None


def _tidy_path(path: str, rules: Rules) -> str:
    if rules.tidy_escapes:
        path = tidy_escapes(path)
    if rules.collapse_slashes and "//" in path:
        path = _SLASHES.sub("/", path)
    if rules.strip_trailing_slash:
        # All of them: stripping one of several would leave something to strip the next time.
        path = path.rstrip("/") or "/"
    return path


# A page links to a handful of sites, so most of the work on a host is done once.
@lru_cache(maxsize=2048)
def _site(scheme: str, authority: str, force_https: bool, strip_www: bool) -> str | None:
    host, port = split_authority(authority.rpartition("@")[2])
    tidy = _tidy_host(host, strip_www)
    if tidy is None:
        return None
    if force_https:
        scheme = "https"
    if port is None or port == DEFAULT_PORTS[scheme]:
        return f"{scheme}://{tidy}"
    return f"{scheme}://{tidy}:{port}"


def _tidy_host(host: str, strip_www: bool) -> str | None:
    if host.startswith("["):
        return host
    host = host.removesuffix(".")
    if len(host) > _MAX_HOST or not all(0 < len(label) <= _MAX_LABEL for label in host.split(".")):
        return None
    while strip_www and host.startswith("www.") and host.count(".") > 1:
        host = host[4:]
    return host
