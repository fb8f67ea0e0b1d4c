"""What a page says about itself: title, language, description, robots, canonical, refresh, base; and between
the lines: its licence, what made it, and that it does not really exist."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from sumi.parse.html import Document, Element, collapse, is_html_element, select_each
from sumi.parse.page.text import clean, harmless
from sumi.urls import LinkNormalizer

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


_MOST_LICENSES: Final = 5
# A tag and an attribute: what the parser's index answers at once.
_RELATIONS: Final = ("link[rel]", "a[rel]")
_PROPERTIES: Final = ("link[itemprop]", "a[itemprop]")
_COMMONS_PATHS: Final = ("creativecommons.org/licenses/", "creativecommons.org/publicdomain/")
# Within JSON-LD. A regular expression, because a broken block still tells.
_SCHEMA: Final = re.compile(rb'"license"\s{0,20}:\s{0,20}(?:\[\s{0,20})?"(https?:[^"\\\s]{1,500})"')

# Words of pages that do not exist. They only raise a suspicion, so they may be broad. Each is looked for by
# itself, which takes a tenth of what one expression for all of them does.
_MISSING: Final = (
    *("not found", "no longer exists", "no longer available"),
    *("does not exist", "doesn't exist", "doesn’t exist"),
    *("could not find", "couldn't find", "couldn’t find"),
    *("cannot be found", "can't be found", "can’t be found"),
    *("nicht gefunden", "existiert nicht", "introuvable", "n'existe pas", "n’existe pas"),
    *("no encontrada", "no encontrado", "no existe", "não encontrada", "não encontrado", "não existe"),
    *("non trovata", "non trovato", "non esiste", "niet gevonden", "hittades inte", "ikke fundet"),
    *("ikke funnet", "ei löyd", "nie znaleziono", "nie istnieje", "nenalezen"),
    *("не найден", "не знайден", "не существует", "bulunamadı"),
    *("不存在", "找不到", "未找到", "見つかりません", "찾을 수 없"),
)
_MISSING_NUMBER: Final = re.compile(r"\b404\b")
_BEGINNING: Final = 300
_LITTLE_TEXT: Final = 3000


def licenses_of(
    document: Document, body: bytes, normalizer: LinkNormalizer, links: Iterable[str]
) -> list[str]:
    """Absolute addresses, distinct. ``links`` are the page's own, resolved.

    Asks the parser's index and the links, because looking through the body takes longer than all of it.
    """
    named = [link for link in select_each(document, _RELATIONS) if _names(link, "rel")]
    named += [link for link in select_each(document, _PROPERTIES) if _names(link, "itemprop")]
    found = [href for link in named if (href := link.attr("href"))]
    found += [url for url in links if "creativecommons.org/" in url and any(p in url for p in _COMMONS_PATHS)]
    if any(map(_holds_json, document.select("script[type]"))) and b"ld+json" in body:
        found += [match[1].decode("utf-8", "replace") for match in _SCHEMA.finditer(body)]
    return normalizer.many(found)[:_MOST_LICENSES] if found else []


def _names(link: Element, attribute: str) -> bool:
    names = (link.attr(attribute) or "").lower()
    return "license" in names and "license" in names.split()


def _holds_json(script: Element) -> bool:
    """A look at the types is a tenth of one through the body; and an example of JSON-LD is no data."""
    return "json" in (script.attr("type") or "").lower()


def looks_missing(title: str | None, text: str) -> bool:
    """Whether title or beginning of a short page speak of a page that does not exist."""
    if len(text) > _LITTLE_TEXT:
        return False
    words = f"{title or ''}\n{text[:_BEGINNING]}".lower()
    if "404" in words and _MISSING_NUMBER.search(words) is not None:
        return True
    return any(map(words.__contains__, _MISSING))


_LOOKED_AT: Final = 128 * 1024
_GENERATOR: Final = re.compile(
    rb"<meta\s[^>]{0,200}?name=[\"']?generator[\"']?[^>]{0,200}?content=[\"']([^\"'<>]{1,100})", re.IGNORECASE
)
_GENERATOR_LAST: Final = re.compile(
    rb"<meta\s[^>]{0,200}?content=[\"']([^\"'<>]{1,100})[\"'][^>]{0,200}?name=[\"']?generator", re.IGNORECASE
)
# Each is something that the tool writes into every page and hardly anybody else does. The first that is
# found names the page, so themes and wrappers stand before what they are built on.
_MARKS: Final[tuple[tuple[str, bytes], ...]] = (
    ("Material for MkDocs", b"md-header__inner"),
    ("MkDocs", b"mkdocs"),
    ("Docusaurus", b"docusaurus"),
    ("VitePress", b"vpcontent"),
    ("VuePress", b"vuepress"),
    ("Nextra", b"nextra-"),
    ("Mintlify", b"mintlify"),
    ("GitBook", b"gitbook"),
    ("ReadMe", b"readme-deploy"),
    ("mdBook", b'id="mdbook-'),
    ("mdBook", b"book made with mdbook"),
    ("rustdoc", b"rustdoc"),
    ("Sphinx", b"_static/documentation_options.js"),
    ("Sphinx", b"sphinxsidebar"),
    ("Antora", b"antora"),
    ("Asciidoctor", b"asciidoctor"),
    ("Javadoc", b"generated by javadoc"),
    ("Doxygen", b"generated by doxygen"),
    ("DocBook", b"docbook xsl"),
    ("MediaWiki", b"mw-content-text"),
    ("Confluence", b"confluence-"),
    ("WordPress", b"/wp-content/"),
    ("Hugo", b"hugo-"),
    ("Jekyll", b"jekyll"),
    ("Next.js", b"/_next/static/"),
    ("Nuxt", b"/_nuxt/"),
    ("Astro", b"astro-island"),
)


def framework_of(body: bytes) -> str:
    """Its name, "" if nothing tells."""
    head = body[:_LOOKED_AT]
    lowered = head.lower()
    for name, mark in _MARKS:
        if mark in lowered:
            return name
    found = _GENERATOR.search(head) or _GENERATOR_LAST.search(head)
    return found[1].decode("utf-8", "replace").strip() if found else ""
