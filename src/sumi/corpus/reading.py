"""``sumi read`` as a function: a page, a section of it or its outline, within a budget of tokens."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Final, NamedTuple
from urllib.parse import unquote

import msgspec

from sumi.catalogue.find import JobKind, Place
from sumi.corpus.indexed_text import slug_of
from sumi.corpus.indexing import Tell
from sumi.corpus.library import Library, PageRow
from sumi.corpus.tokens import estimate
from sumi.errors import UsageError

_LEAST: Final = 8  # tokens
_LINK: Final = re.compile(rb"\[[^\[\]]*\]\((?:[^()\n]|\([^()\n]*\))*\)")
_LONGEST_MENU: Final = 2000  # bytes between a place and the heading that it stands before
_PLACE: Final = re.compile(rb'<a id="([^"<>\n]*)"></a>\s*')  # where a link of the site leads


class NotCaptured(UsageError):
    """``near``: URLs that end alike."""

    def __init__(self, url: str, near: Sequence[str]) -> None:
        hint = f"did you mean {near[0]}?" if near else "sumi search finds pages by what they say"
        super().__init__(f"no page {url[:200]} was captured: {hint}")
        self.near = tuple(near)


class NoSection(UsageError):
    """``near``: anchors that are spelt alike."""

    def __init__(self, url: str, named: str, near: Sequence[str]) -> None:
        hint = f"the nearest are {', '.join(near)}" if near else "sumi read --outline lists its sections"
        super().__init__(f"{url} has no section {named[:80]!r}: {hint}")
        self.near = tuple(near)


class Heading(msgspec.Struct, frozen=True):
    """``tokens``: of its section with everything below it."""

    level: int
    heading: str
    anchor: str
    tokens: int
    start: int  # bytes of the page
    end: int


class PagePart(msgspec.Struct, frozen=True):
    """``left``: tokens that follow; ``next_offset``: where to go on, in characters of the page or section."""

    url: str
    title: str
    file: str
    section: str
    text: str
    tokens: int
    left: int
    next_offset: int
    fetched_at: float


class PageOutline(msgspec.Struct, frozen=True):
    url: str
    title: str
    tokens: int
    headings: tuple[Heading, ...]


async def read(
    url: str,
    *places: Place,
    section: str = "",
    max_tokens: int = 2000,
    offset: int = 0,
    tell: Tell = lambda words: None,
) -> PagePart:
    """``sumi read``: a captured page, or a section of it, by its anchor or heading."""
    library = await Library.open(*places, tell=tell)
    try:
        return read_part(library, url, section=section, max_tokens=max_tokens, offset=offset)
    finally:
        library.close()


async def outline(url: str, *places: Place, tell: Tell = lambda words: None) -> PageOutline:
    """``sumi read --outline``: the headings of a captured page, with the size of each section."""
    library = await Library.open(*places, tell=tell)
    try:
        return page_outline(library, url)
    finally:
        library.close()


def read_part(
    library: Library, url: str, *, section: str = "", max_tokens: int = 2000, offset: int = 0
) -> PagePart:
    row = known_page(library, url)
    text = page_text(library, row)
    named = section or url.partition("#")[2]
    heading = ""
    if named:
        data = text.encode("utf-8", "replace")
        found = section_of(headings(row), named, row.url, data)
        text = data[found.start : found.end].decode("utf-8", "replace")
        heading = found.heading
    begin = max(0, min(offset, len(text)))
    shown = fitted(text[begin:], max(_LEAST, max_tokens))
    end = begin + len(shown)
    rest = text[end:]
    return PagePart(
        url=row.url,
        title=row.title,
        file=row.file,
        section=heading,
        text=shown,
        tokens=estimate(shown),
        left=estimate(rest) if rest.strip() else 0,
        next_offset=end if rest.strip() else 0,
        fetched_at=row.fetched_at,
    )


def page_outline(library: Library, url: str) -> PageOutline:
    row = known_page(library, url)
    return PageOutline(row.url, row.title, row.tokens, tuple(headings(row)))


def known_page(library: Library, url: str) -> PageRow:
    row = library.page(url)
    if row is None:
        raise NotCaptured(url, library.similar_pages(url))
    return row


def page_text(library: Library, row: PageRow) -> str:
    text = library.text(row)
    if text is not None:
        return text
    if row.kind is JobKind.MAP:
        raise UsageError(f"{row.url} is on a map, which keeps titles only: sumi mirror captures its text")
    raise UsageError(
        f"the text of {row.url} is not there any more, or is not what was captured: run its job again, or "
        "sumi state check --deep, then sumi index"
    )


def headings(row: PageRow) -> list[Heading]:
    rows = row.store.rows(
        "SELECT level, heading, anchor, tokens, start, length FROM section WHERE page = ? ORDER BY ord",
        (row.id,),
    )
    return headings_of([SectionRow(*each) for each in rows])


class SectionRow(NamedTuple):
    level: int
    heading: str
    anchor: str
    tokens: int
    start: int
    length: int


def headings_of(rows: Sequence[SectionRow]) -> list[Heading]:
    """Each with everything up to the next heading that is not below it. The parts of a long section have one
    anchor; what comes before the first heading has level 0 and ends there."""
    found: list[Heading] = []
    for at, row in enumerate(rows):
        if at and row.anchor == rows[at - 1].anchor:
            continue
        below = at + 1
        while below < len(rows) and _is_within(rows[below], row):
            below += 1
        tokens = sum(each.tokens for each in rows[at:below])
        end = rows[below - 1].start + rows[below - 1].length
        found.append(Heading(row.level, row.heading, row.anchor, tokens, row.start, end))
    return found


def _is_within(row: SectionRow, above: SectionRow) -> bool:
    return row.anchor == above.anchor or (row.level > above.level > 0)


def section_of(outline: Sequence[Heading], named: str, url: str, text: bytes) -> Heading:
    """By its anchor, by a place inside of it that links lead to, or by its heading."""
    wanted = named.strip().lstrip("#")
    slug = slug_of(wanted)
    named_so = (
        [each for each in outline if each.anchor == wanted]
        or _at_place(outline, {wanted, unquote(wanted)} - {""}, text)
        or [each for each in outline if each.heading.casefold() == wanted.casefold()]
        or [each for each in outline if slug and each.anchor == slug]
        or [each for each in outline if slug and slug in each.anchor]
    )
    if named_so:
        return named_so[0]
    import difflib

    names = [each.anchor for each in outline if each.anchor]
    raise NoSection(url, named, difflib.get_close_matches(slug, names, n=3, cutoff=0.3))


def _at_place(outline: Sequence[Heading], names: set[str], text: bytes) -> list[Heading]:
    """The section that begins there, or the rest of the one that the place is in, from its line on."""
    for place in _PLACE.finditer(text):
        if unescape(place[1].decode("utf-8", "replace")) in names:
            end = place.end()
            while following := _PLACE.match(text, end):
                end = following.end()
            at = next((each.start for each in outline if each.start >= end), end)
            if at - end < _LONGEST_MENU and not re.search(rb"\w", _LINK.sub(b"", text[end:at])):
                end = at  # nothing but links stands before the next heading
            within = [each for each in outline if each.start <= end < each.end]
            if not within:
                continue
            inner = within[-1]
            begin = max(inner.start, text.rfind(b"\n", 0, place.start()) + 1)
            tokens = estimate(text[begin : inner.end].decode("utf-8", "replace"))
            return [msgspec.structs.replace(inner, start=begin, tokens=tokens)]
    return []


def fitted(text: str, budget: int) -> str:
    """As much of the beginning as the budget allows: whole blocks, else whole lines, else what fits."""
    if estimate(text) <= budget:
        return text
    for separator in ("\n\n", "\n"):
        shown = _longest(text, budget, separator)
        if shown.strip():
            return shown
    return _longest(text, budget, "")


def _longest(text: str, budget: int, separator: str) -> str:
    most = min(len(text), budget * 4)  # a token has at most four bytes here
    if separator:
        ends, at = [0], 0
        while (at := text.find(separator, at, most)) >= 0:
            at += len(separator)
            ends.append(at)
    else:
        ends = list(range(most + 1))
    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if estimate(text[: ends[middle]]) <= budget:
            low = middle
        else:
            high = middle - 1
    # Twelve letters more may cost less where a block of code ends, so what was found is checked.
    while low and (
        estimate(text[: ends[low]]) > budget or (separator == "\n\n" and _in_code(text[: ends[low]]))
    ):
        low -= 1
    return text[: ends[low]]


def _in_code(text: str) -> bool:
    fence = ""
    for line in text.split("\n"):
        mark = line.strip()[:3]
        if fence:
            fence = "" if mark == fence else fence
        elif mark in ("```", "~~~"):
            fence = mark
    return bool(fence)
