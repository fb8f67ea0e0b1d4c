"""The links of a page as URLs, fast: most hrefs on the pages of a site are the same few hundred."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from sumi.policy import Preset
from sumi.urls.identity import Spelled, normalize, spelled_href
from sumi.urls.parts import origin, serialized
from sumi.urls.rules import Rules

# Most links of a manual are letters and slashes, perhaps after a few ``../``, and the standard does not
# change them. Joining them here takes a quarter of the parser's time, which parses the page's address again
# for each. The pattern matches nothing that is escaped, dropped or special (``:``, ``?``, ``%2e``), and no
# segment that begins with a dot.
_SEGMENT: Final = r"[\w~+,=@-][\w.~+,=@-]*+"
_PLAIN: Final = re.compile(rf"(/|(?:\.\./)*+)((?:{_SEGMENT}/)*+(?:{_SEGMENT})?)", re.ASCII)
_STEP: Final = 3  # characters of ``../``


def plain_join(href: str, folder: str, root: str) -> str | None:
    """``href`` resolved against a page in ``folder`` on the site ``root``, both with a slash at the end. None
    if it needs a parser."""
    found = _PLAIN.fullmatch(href)
    if found is None or not href:
        return None
    way, rest = found.groups()
    if way == "/":
        return root + rest
    for _ in range(len(way) // _STEP):
        if len(folder) <= len(root):
            break
        folder = folder[: folder.rfind("/", 0, -1) + 1]
    return folder + rest


# These are never requested; the parser would only find out more slowly.
_NOT_PAGES: Final = ("#", "javascript:", "mailto:", "tel:", "data:")
_SITE_WIDE: Final = ("/", "http://", "https://")

# The memos are bounded in number, entries and size of an entry: about 20 MB if all are full of ordinary
# hrefs, 70 MB with the most hostile ones. They have room for sidebars of thousands of links.
_MEMOS: Final = 16
_MEMO_ENTRIES: Final = 4096
_MEMO_HREF: Final = 128
_MEMO_URL: Final = 256


@lru_cache(maxsize=_MEMOS)
def _memo(rules: Rules, place: str) -> dict[str, str | Spelled]:
    """Results for every page of a place (a site or a folder): "" for an href that is not a link, and a pair
    if what is requested is not the identity.

    Shared by all pages, which is safe because a result depends only on rules, place and href.
    """
    return {}


class LinkNormalizer:
    """Turns the hrefs of one page into URLs.

    ``base``: the address that the page was served from, or its ``<base href>``; not its identity, which may
    lack the trailing slash that relative links depend on.

    ``addresses``: what to request for URLs that are not written like their identity. The first spelling
    counts.
    """

    __slots__ = (
        "_base",
        "_edits_place",
        "_folder",
        "_met",
        "_place",
        "_root",
        "_rules",
        "_site",
        "addresses",
    )

    def __init__(self, rules: Rules, base: str) -> None:
        self._rules = rules
        self.addresses: dict[str, str] = {}
        self._met: dict[str, None] = {}
        self._edits_place = rules.edits_place  # a property that is computed on each access
        page = normalize(base, Preset.MIRROR)
        # Without a usable base, relative hrefs are ignored, but absolute ones still count.
        self._base = None if page is None else page.encode()
        site = "" if page is None else origin(page)
        self._root = f"{site}/"
        self._place = "" if page is None else _folder_of(page)
        self._site = _memo(rules, site)
        self._folder = _memo(rules, self._place)

    def many(self, hrefs: Iterable[str]) -> list[str]:
        """Absolute, normalized, http(s), distinct, in order."""
        found: dict[str, None] = {}
        site, folder = self._site, self._folder
        for href in hrefs:
            if "#" in href:
                if href[0] == "#":
                    continue  # the page itself
                href = _without_fragment(href)  # noqa: PLW2901 - the same link to us, and often one met before
            url = site.get(href)
            if url is None:
                url = folder.get(href)
                if url is None:
                    url = self._look_up(href)
            if not isinstance(url, str):
                url, address = url
                if url not in found and url not in self._met:
                    self.addresses[url] = address
            if url:
                found[url] = None
        self._met = self._met | found if self._met else found  # nearly all links come in the first call
        return list(found)

    def _look_up(self, href: str) -> str | Spelled:
        if href.startswith(_NOT_PAGES) or len(href) > self._rules.max_length:
            return ""
        found = self._resolved(href)
        url = "" if found is None else found if found.address else found.identity
        memo = self._memo_for(href)
        if memo is not None:
            _remember(memo, href, url)
        return url

    def _resolved(self, href: str) -> Spelled | None:
        joined = plain_join(href, self._place, self._root) if self._place else None
        if joined is None:
            whole = serialized(href, self._base)
            return None if whole is None else spelled_href(whole, self._rules)
        if self._edits_place or len(joined) > self._rules.max_length:
            return spelled_href(joined, self._rules)
        return Spelled(joined, "")  # on the page's own site, which is normalized, and without a query

    def _memo_for(self, href: str) -> dict[str, str | Spelled] | None:
        """Where a result may be shared. None: it depends, or may depend, on the page's full address.

        A colon can make the first word a scheme, and ``http:?x`` is relative to an http page; the parser
        strips a leading space or control character, which hides what really comes first.
        """
        if href.startswith(_SITE_WIDE):
            return self._site
        if href[:1] > " " and href[0] != "?" and ":" not in href:
            return self._folder
        return None


def _folder_of(page: str) -> str:
    return page.partition("?")[0].rpartition("/")[0] + "/"


def _without_fragment(href: str) -> str:
    bare, mark, _ = href.partition("#")
    # The parser strips spaces and controls at the very end only; cutting must not move them there.
    return bare + mark if bare[-1:] <= " " else bare


def _remember(memo: dict[str, str | Spelled], href: str, url: str | Spelled) -> None:
    size = len(url) if isinstance(url, str) else len(url.identity) + len(url.address)
    if len(href) > _MEMO_HREF or size > _MEMO_URL:
        return
    if len(memo) >= _MEMO_ENTRIES:
        memo.clear()
    memo[href] = url
