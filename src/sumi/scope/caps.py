"""Limits on the pages of a repository, or of a part of a site: by distinct URL, exact at any concurrency.

The ledger is asked once for every URL that all other rules accept, and a URL that it admitted stays admitted.
Nothing is ever given back, so a crash, a page that is found twice or a dropped settlement cannot make it
count too little. After a restart, the URLs in the store are loaded again.
"""

from typing import Final, NamedTuple

import msgspec

from sumi.outcomes import BY_RULE, Outcome, Verdict
from sumi.scope.patterns import path_pattern
from sumi.scope.profiles import ProfileName, shapes_of
from sumi.urls.identity import tidy_path

# URLs with these outcomes were never requested, so they do not count.
NOT_ASKED_FOR: Final = BY_RULE | {Outcome.BAD_URL, Outcome.ROBOTS_DENIED}


class CapPolicy(msgspec.Struct, frozen=True):
    """Limits for one group of pages: with GitHub's profile, a repository; or the paths that match a pattern.
    0: no limit."""

    profile: ProfileName = ProfileName.GENERIC
    pages: int = 0  # of all types together
    by_type: tuple[tuple[str, int], ...] = ()
    under: tuple[tuple[str, int], ...] = ()  # a pattern for paths, and how many pages may match it

    @property
    def limits_groups(self) -> bool:
        return bool(self.pages or any(limit for _, limit in self.by_type))

    @property
    def limits_anything(self) -> bool:
        return self.limits_groups or bool(self.under)


class _Place(NamedTuple):
    group: str
    page_type: str


class _Group:
    __slots__ = ("admitted", "by_type")

    def __init__(self) -> None:
        self.admitted: set[int] = set()
        self.by_type: dict[str, int] = {}


class _Part:
    """The pages of a site whose paths match a pattern."""

    def __init__(self, text: str, most: int) -> None:
        self.matches = path_pattern(text).matches
        self.refusal = Verdict(Outcome.OVER_QUOTA, f"{text} has its {most:,} pages")
        self.most = most
        self.admitted: set[int] = set()


class CapLedger:
    """Keeps a hash of each admitted URL, and nothing of refused ones."""

    def __init__(self, policy: CapPolicy) -> None:
        self._policy = policy
        self._limits = {name: limit for name, limit in policy.by_type if limit}
        self._shapes = shapes_of(policy.profile)
        self._groups: dict[str, _Group] = {}
        self._parts = [_Part(text, most) for text, most in policy.under]

    def refusal(self, url: str) -> Verdict | None:
        """What ``admits`` would say, without taking a place."""
        return self._over(self._place_of(url), self._parts_of(url), hash(url))

    def admits(self, url: str) -> Verdict | None:
        """None if the URL is admitted, now and for good; otherwise the cap that is reached."""
        place, parts = self._place_of(url), self._parts_of(url)
        refusal = self._over(place, parts, hash(url))
        if refusal is None:
            self._take(place, parts, hash(url))
        return refusal

    def load(self, url: str) -> None:
        """An earlier run requested this URL: it is admitted, even beyond a limit that is lower now."""
        self._take(self._place_of(url), self._parts_of(url), hash(url))

    def _parts_of(self, url: str) -> list[_Part]:
        if not self._parts:
            return []
        path = tidy_path(url)
        return [part for part in self._parts if part.matches(path)]

    def _place_of(self, url: str) -> _Place | None:
        """None for a URL that belongs to no group."""
        if not self._policy.limits_groups:
            return None
        path = tidy_path(url)
        group = self._shapes.group_of(path)
        return None if group is None else _Place(group, self._shapes.page_type(path) or "")

    def _take(self, place: _Place | None, parts: list[_Part], url_hash: int) -> None:
        for part in parts:
            part.admitted.add(url_hash)
        if place is None:
            return
        group = self._groups.setdefault(place.group, _Group())
        if url_hash not in group.admitted:
            group.admitted.add(url_hash)
            group.by_type[place.page_type] = group.by_type.get(place.page_type, 0) + 1

    def _over(self, place: _Place | None, parts: list[_Part], url_hash: int) -> Verdict | None:
        for part in parts:
            if len(part.admitted) >= part.most and url_hash not in part.admitted:
                return part.refusal
        return None if place is None else self._over_group(place, url_hash)

    def _over_group(self, place: _Place, url_hash: int) -> Verdict | None:
        group = self._groups.get(place.group)
        if group is None or url_hash in group.admitted:
            return None
        name, most = place.group, self._policy.pages
        if 0 < most <= len(group.admitted):
            return Verdict(Outcome.OVER_QUOTA, f"{name} has its {most:,} pages")
        most = self._limits.get(place.page_type, 0)
        if 0 < most <= group.by_type.get(place.page_type, 0):
            return Verdict(Outcome.OVER_QUOTA, f"{name} has its {most:,} pages of type {place.page_type}")
        return None
