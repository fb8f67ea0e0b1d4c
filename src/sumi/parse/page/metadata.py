"""What a page says about itself: title, language, description, robots, canonical, refresh, base."""

import re
from typing import Final, NamedTuple

import msgspec

from sumi.parse.html import Document, Element, collapse, is_html_element
from sumi.parse.page.text import clean, harmless

_WHITE: Final = "\t\n\f\r "
_TIME: Final = re.compile(r"[\t\n\f\r ]*([0-9]{0,9})[0-9]*")
_FRACTION: Final = re.compile(r"[0-9.]*")
_URL_KEY: Final = re.compile(r"[Uu][Rr][Ll][\t\n\f\r ]*=[\t\n\f\r ]*")

# A page that leads on within this many seconds is a way-station. One that takes longer is there to be read
# first: its target is a link like any other.
REDIRECT_SECONDS: Final = 5


class Refresh(NamedTuple):
    seconds: int
    target: str  # "" means the page itself, again


def parse_refresh(content: str) -> Refresh | None:
    """The value of a ``<meta http-equiv=refresh content=…>`` by the standard's "shared declarative refresh
    steps";
    None where browsers ignore it."""
    time = _TIME.match(content)
    if time is None:
        return None
    after = content[time.end() :]
    if not time[1] and not after.startswith("."):
        return None
    seconds = int(time[1] or 0)
    fraction = _FRACTION.match(after)
    rest = after[fraction.end() :] if fraction else after
    if not rest:
        return Refresh(seconds, "")
    if rest[0] not in ";," + _WHITE:
        return None
    return Refresh(seconds, _target(rest))


def _target(rest: str) -> str:
    rest = rest.lstrip(_WHITE)
    if rest[:1] in (";", ","):
        rest = rest[1:].lstrip(_WHITE)
    key = _URL_KEY.match(rest)
    if key is not None:
        rest = rest[key.end() :]
    if rest[:1] in ("'", '"'):
        return rest[1:].partition(rest[0])[0]
    return rest


# Facts are kept for every page for ever; a title of a megabyte is not a fact.
_MAX_TITLE: Final = 1000
_MAX_DESCRIPTION: Final = 5000
_MAX_SHORT: Final = 200

_ROBOTS_NAMES: Final = frozenset({"robots", "sumi"})


class Metadata(msgspec.Struct):
    """As written on the page: white space collapsed, URLs not yet resolved."""

    title: str | None = None
    language: str | None = None
    description: str | None = None
    robots: str | None = None
    canonical: str | None = None
    refresh: Refresh | None = None
    base: str | None = None


class _Findings(msgspec.Struct):
    """The first of each kind, before one is preferred to another."""

    titles: dict[str, str] = {}
    descriptions: dict[str, str] = {}
    robots: list[str] = []
    canonical: str | None = None
    refresh: Refresh | None = None
    base: str | None = None


def read_metadata(document: Document) -> Metadata:
    found = _Findings()
    for elements, read in (
        (document.find_all("title"), _read_title),
        (document.find_all("h1"), _read_title),
        (document.select("meta[content]"), _read_meta),
        (document.select("link[rel]"), _read_link),
        (document.find_all("base"), _read_base),
    ):
        for element in elements:
            if is_html_element(element):
                read(element, found)
    return Metadata(
        title=_first(found.titles, ("title", "og:title", "h1"), _MAX_TITLE),
        language=_language(document),
        description=_first(found.descriptions, ("description", "og:description"), _MAX_DESCRIPTION),
        robots=", ".join(found.robots)[:_MAX_DESCRIPTION] or None,
        canonical=found.canonical,
        refresh=found.refresh,
        base=found.base,
    )


def _first(values: dict[str, str], preference: tuple[str, ...], limit: int) -> str | None:
    for name in preference:
        if values.get(name):
            return harmless(clean(values[name][:limit]))
    return None


def _language(document: Document) -> str | None:
    root = document.root
    if root is None:
        return None
    return (root.attr("lang") or root.attr("xml:lang") or "").strip()[:_MAX_SHORT] or None


def _read_title(element: Element, found: _Findings) -> None:
    if not found.titles.get(element.tag):
        found.titles[element.tag] = collapse(element.text)


def _read_meta(element: Element, found: _Findings) -> None:
    content = element.attr("content")
    if content is None:
        return
    name = (element.attr("name") or element.attr("property") or "").strip().lower()
    if name in _ROBOTS_NAMES:
        found.robots.append(collapse(content))
    elif name == "og:title":
        found.titles.setdefault(name, collapse(content))
    elif name in ("description", "og:description"):
        found.descriptions.setdefault(name, collapse(content))
    elif found.refresh is None and (element.attr("http-equiv") or "").strip().lower() == "refresh":
        found.refresh = parse_refresh(content)


def _read_link(element: Element, found: _Findings) -> None:
    if found.canonical is None and "canonical" in (element.attr("rel") or "").lower().split():
        found.canonical = element.attr("href")


def _read_base(element: Element, found: _Findings) -> None:
    if found.base is None:
        found.base = element.attr("href")
