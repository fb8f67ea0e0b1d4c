"""``sumi search`` as a function: the pages that answer a question, each with its best sections."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from sumi.catalogue.find import Place
from sumi.corpus.index_store import IndexDamaged, SearchIndex
from sumi.corpus.indexed_text import without_targets
from sumi.corpus.indexing import Tell, host_of
from sumi.corpus.library import Library
from sumi.corpus.query import Query, parse_query
from sumi.corpus.ranking import Hits, PageFacts, RankedPage, rank
from sumi.corpus.retrieval import candidates
from sumi.corpus.words import stem, words_of
from sumi.errors import UsageError

MOST_PAGES: Final = 50
_SNIPPET_LINES: Final = 2
_SNIPPET_LINE: Final = 160  # characters
_CODE: Final = 0.25  # the share of code from which a section counts as code
_MOST_HEADINGS: Final = 20_000
_ANCHOR: Final = re.compile(r'<a id="[^"<>\n]*"></a>')


class FoundSection(msgspec.Struct, frozen=True):
    heading: str
    trail: str
    anchor: str
    tokens: int
    snippet: tuple[str, ...]  # lines of its text; none if the text is not there any more


class Found(msgspec.Struct, frozen=True):
    """``score`` compares pages of one search, also of several folders."""

    url: str
    title: str
    site: str
    file: str
    score: float
    tokens: int
    sections: tuple[FoundSection, ...]
    text_missing: bool = False  # the page was changed or removed since it was indexed


async def search(
    query: str,
    *places: Place,
    site: str = "",
    limit: int = 10,
    kind: str = "any",
    tell: Tell = lambda words: None,
) -> list[Found]:
    """``sumi search``: the best pages of all folders together; by default of ``output`` and ``captures``.
    ``kind="code"`` finds sections with code only."""
    wanted = parse_query(query)  # before anything is indexed for a question that is none
    library = await Library.open(*places, tell=tell)
    try:
        try:
            return search_library(library, wanted, site=site, limit=limit, kind=kind)
        except IndexDamaged:
            await library.rebuild()
            return search_library(library, wanted, site=site, limit=limit, kind=kind)
    finally:
        library.close()


def search_library(
    library: Library, query: Query | str, *, site: str = "", limit: int = 10, kind: str = "any"
) -> list[Found]:
    asked = parse_query(query) if isinstance(query, str) else query
    if kind not in ("any", "code"):
        raise UsageError(f"{kind!r} is no kind of section: give any or code")
    names = (site, *asked.sites) if site else asked.sites
    sites = library.chosen_sites(names)
    ranked: list[tuple[SearchIndex, RankedPage]] = []
    for number, store in enumerate(library.stores):
        if sites is None or number in sites:
            ranked += [
                (store, page)
                for page in rank(*candidates_of(store, asked, None if sites is None else sites[number], kind))
            ]
    ranked.sort(key=lambda pair: -pair[1].score)
    found: dict[str, Found] = {}
    for store, page in ranked:
        if len(found) == max(1, min(limit, MOST_PAGES)):
            break
        shown = _shown(library, store, page, asked)
        found.setdefault(shown.url, shown)
    return list(found.values())


class Candidates(NamedTuple):
    """What ``rank`` takes."""

    hits: Hits
    page_of: dict[int, int]
    facts: dict[int, PageFacts]


def candidates_of(store: SearchIndex, query: Query, sites: list[int] | None, kind: str) -> Candidates:
    """``kind``: "code" for sections with code only."""
    hits = candidates(store, query, sites)
    rows = _rows(store, "SELECT id, page, code FROM section WHERE id", [hit.row for hit in hits.sections])
    if kind == "code":
        rows = [row for row in rows if row[2] >= _CODE]
        kept = {row[0] for row in rows}
        pages = {row[1] for row in rows}
        hits = hits._replace(
            sections=[hit for hit in hits.sections if hit.row in kept],
            found=[hit for hit in hits.found if hit.row in pages],
        )
    page_of = {number: page for number, page, _ in rows}
    pages = {*page_of.values(), *(hit.row for hit in hits.found)}
    facts = {
        number: PageFacts(title, _path(url), share)
        for number, title, url, share in _rows(
            store, "SELECT id, title, url, link_share FROM page WHERE id", pages
        )
    }
    return Candidates(hits, page_of, facts)


def _rows(store: SearchIndex, statement: str, numbers: Iterable[int]) -> list[tuple[Any, ...]]:
    wanted = ", ".join(str(int(number)) for number in numbers)
    return store.rows(f"{statement} IN ({wanted})")


def _path(url: str) -> str:
    """With its query; of hundreds of pages, so without taking the whole URL apart."""
    return "/" + url.partition("://")[2].partition("/")[2]


def _shown(library: Library, store: SearchIndex, page: RankedPage, query: Query) -> Found:
    row = library.page_by_id(store, page.page)
    text = library.text(row)
    data = None if text is None else text.encode("utf-8", "replace")
    chosen = [section.row for section in page.sections] or [
        number
        for (number,) in store.rows("SELECT id FROM section WHERE page = ? ORDER BY ord LIMIT 1", (row.id,))
    ]
    order = {number: at for at, number in enumerate(chosen)}
    rows = _rows(
        store, "SELECT id, heading, trail, anchor, tokens, start, length FROM section WHERE id", chosen
    )
    words = [word for term in query.terms for word in term.words]
    sections: dict[str, FoundSection] = {}
    for _, heading, trail, anchor, tokens, start, length in sorted(rows, key=lambda row: order[row[0]]):
        part = b"" if data is None else data[start : start + length]
        snippet = best_lines(part.decode("utf-8", "replace"), words)
        sections.setdefault(str(anchor), FoundSection(heading, trail, anchor, tokens, snippet))
    return Found(
        url=row.url,
        title=row.title,
        site=host_of(row.url),
        file=row.file,
        score=round(page.score, 4),
        tokens=row.tokens,
        sections=tuple(sections.values()),
        text_missing=text is None and bool(row.text_sha256),
    )


def best_lines(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """The two lines of a section that have most of the words."""
    wanted = {stem(word) for word in words}
    plain = _ANCHOR.sub("", without_targets(text))
    lines = [piece for line in plain.splitlines() for piece in _pieces(line)]
    if not lines:
        return ()
    worth = [len(wanted & {stem(word) for word in words_of(line)}) for line in lines]
    best = max(
        range(len(lines)),
        key=lambda at: (sum(worth[at : at + _SNIPPET_LINES]), worth[at], not lines[at].startswith("#"), -at),
    )
    return tuple(lines[best : best + _SNIPPET_LINES])


def _pieces(line: str) -> list[str]:
    """A long line in pieces that end at a word."""
    pieces: list[str] = []
    rest = line.strip()
    while len(rest) > _SNIPPET_LINE and len(pieces) < 200:
        cut = rest.rfind(" ", _SNIPPET_LINE // 2, _SNIPPET_LINE)
        cut = _SNIPPET_LINE if cut < 0 else cut
        pieces.append(rest[:cut])
        rest = rest[cut:].lstrip()
    return [piece for piece in (*pieces, rest[:_SNIPPET_LINE]) if piece.strip("-`~*_|: ")]


def nearest_headings(library: Library, query: str, limit: int = 3) -> list[tuple[str, str]]:
    """For a question that finds nothing: headings that are spelt alike, each with its URL."""
    wanted = _trigrams(query)
    scored: list[tuple[float, str, str]] = []
    for store in library.stores:
        rows = store.rows(
            "SELECT s.heading, p.title, p.url, s.anchor FROM section s JOIN page p ON p.id = s.page "
            "WHERE s.level BETWEEN 0 AND 3 LIMIT ?",
            (_MOST_HEADINGS,),
        )
        for heading, title, url, anchor in rows:
            grams = _trigrams(heading or title)
            shared = len(wanted & grams)
            if shared:
                scored.append(
                    (shared / (len(wanted) + len(grams) - shared), heading or title, f"{url}#{anchor}")
                )
    scored.sort(key=lambda each: (-each[0], each[2]))
    nearest: dict[str, str] = {}
    for _, heading, url in scored:
        nearest.setdefault(heading, url.removesuffix("#"))
        if len(nearest) == limit:
            break
    return list(nearest.items())


def _trigrams(text: str) -> set[str]:
    words = [f"  {word} " for word in words_of(text[:300])]
    return {word[at : at + 3] for word in words for at in range(len(word) - 2)}
