"""``search_docs``, ``read_page`` and ``page_outline``."""

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from sumi.agents.arguments import Arguments
from sumi.agents.wording import LONGEST_URL, clean, listed, one_line, quoted
from sumi.corpus.library import Library
from sumi.corpus.reading import Heading, fitted, headings, known_page, page_text, section_of
from sumi.corpus.searching import Found, FoundSection, nearest_headings, search_library
from sumi.corpus.tokens import estimate

_MARKS: Final = 24  # tokens that the marks around foreign text take, without what it is about
_LEAST_TEXT: Final = 40  # tokens of text that every answer has room for


def search_docs(library: Library, given: Arguments, budget: int) -> str:
    query = given.required("query")
    found = search_library(
        library,
        query,
        site=given.text("site"),
        limit=given.number("limit", 8, 1, 20),
        kind=given.choice("kind", ("any", "code")),
    )
    if not found:
        return _nothing(library, query, budget)
    room = budget - _MARKS
    for lines_each in (2, 1, 0):
        items = [_item(number, page, lines_each) for number, page in enumerate(found, 1)]
        if estimate("\n".join(items)) <= room:
            break
    return quoted(listed(items, room, lambda left: f"({left} more: ask with site or other words)"))


def _item(number: int, page: Found, lines_each: int) -> str:
    first, *others = page.sections or (FoundSection("", "", "", page.tokens, ()),)
    lines = [f"{number}. {one_line(page.title or page.url)}"]
    trail = first.trail.removeprefix(page.title).removeprefix(" › ")
    if trail:
        lines[0] += f" — {one_line(trail)}"
    url = one_line(page.url, LONGEST_URL)
    lines.append(f"   {url}{'#' if first.anchor else ''}{one_line(first.anchor)} ({first.tokens:,} tokens)")
    if page.text_missing:
        lines.append("   (its text is not there any more)")
    lines += [f"   | {one_line(line)}" for line in first.snippet[:lines_each]]
    if lines_each == 2 and others:
        more = ", ".join(f"#{one_line(each.anchor, 80)} ({each.tokens:,})" for each in others if each.anchor)
        lines += [f"   also {more}"] if more else []
    return "\n".join(lines)


def _nothing(library: Library, query: str, budget: int) -> str:
    near = [
        f"- {one_line(heading)}: {one_line(url, LONGEST_URL)}"
        for heading, url in nearest_headings(library, query)
    ]
    sites = dict.fromkeys(site.host for site in library.sites())
    shown = ", ".join(list(sites)[:20]) + (f" and {len(sites) - 20} more" if len(sites) > 20 else "")
    room = budget - _MARKS - 40 - estimate(shown)
    nearest = listed(near, max(0, room), lambda left: f"({left} more)") if near else "- none"
    return (
        f"Nothing was found for these words. Sites: {one_line(shown, 800)}. The nearest headings:\n"
        f"{quoted(nearest)}"
    )


def read_page(library: Library, given: Arguments, budget: int) -> str:
    url, offset = given.required("url"), given.number("offset", 0, 0, 10**12)
    row = known_page(library, url)
    text, outline, heading = page_text(library, row), headings(row), None
    named = given.text("section") or url.partition("#")[2]
    if named:
        data = text.encode("utf-8", "replace")
        heading = section_of(outline, named, row.url, data)
        text = data[heading.start : heading.end].decode("utf-8", "replace")
    text = clean(text)
    head = one_line(row.title)
    if heading is not None and heading.heading != row.title:
        head += f" — {one_line(heading.heading)}"
    if row.fetched_at:
        head += time.strftime(" (captured %Y-%m-%d)", time.gmtime(row.fetched_at))
    if offset and offset >= len(text):
        return f"Nothing follows offset {offset:,}: this text has {len(text):,} characters."
    return passage_within(Passage(row.url, head, text, offset), outline, heading, budget)


class Passage(NamedTuple):
    url: str
    head: str
    text: str
    offset: int

    def cut(self, room: int) -> tuple[str, str]:
        """What is shown, and what follows."""
        begin = self.text[self.offset : self.offset + 4 * room + 1]  # a token has four bytes at most
        shown = fitted(begin, room)
        return shown, self.text[self.offset + len(shown) :]


def passage_within(page: Passage, outline: Sequence[Heading], section: Heading | None, budget: int) -> str:
    room = budget - _MARKS - estimate(page.url[:LONGEST_URL]) - estimate(page.head)
    while True:
        shown, rest = page.cut(max(_LEAST_TEXT, room))
        following = _following(page, shown, outline, section) if rest.strip() else []
        answer = _answer(page, shown, rest, following, budget)
        over = estimate(answer) - budget
        if over <= 0 or room <= _LEAST_TEXT:
            return answer
        room -= over


def _answer(page: Passage, shown: str, rest: str, following: list[str], budget: int) -> str:
    body = f"{page.head}\n\n{shown.strip()}"
    if not rest.strip():
        return quoted(body, page.url)
    go_on = (
        f"Cut here: about {estimate(rest):,} tokens are left. Go on with offset={page.offset + len(shown)}"
    )
    if following:
        # The headings of what follows take at most a quarter of the answer.
        told = listed(following, budget // 4, lambda left: f"- ({left} more: page_outline)")
        body += f"\n\n… and these sections follow:\n{told}"
        go_on += ", or read one of the sections that are listed last"
    return f"{quoted(body, page.url)}\n{go_on}."


def _following(page: Passage, shown: str, outline: Sequence[Heading], section: Heading | None) -> list[str]:
    """The headings of what was cut off."""
    begin = (section.start if section else 0) + len(page.text[: page.offset].encode("utf-8", "replace"))
    begin += len(shown.encode("utf-8", "replace"))
    return [
        _heading_line(each, 1)
        for each in outline
        if each.level and begin <= each.start and (section is None or each.start < section.end)
    ]


def page_outline(library: Library, given: Arguments, budget: int) -> str:
    row = known_page(library, given.required("url"))
    outline = [each for each in headings(row) if each.level]
    head = f"{one_line(row.title or row.url)} ({row.tokens:,} tokens)"
    top = min((each.level for each in outline), default=1)
    room = budget - _MARKS - estimate(row.url[:LONGEST_URL]) - estimate(head)
    lines: list[str] = []
    for depth in range(1, given.number("depth", 3, 1, 6) + 1):
        deeper = [_heading_line(each, top) for each in outline if each.level < top + depth]
        # A level that does not fit is left out, unless that would leave nearly nothing.
        if estimate("\n".join(deeper)) > room and estimate("\n".join(lines)) > room // 4:
            break
        lines = deeper
        if estimate("\n".join(lines)) > room:
            break
    body = (
        listed(lines, room, lambda left: f"- ({left} more: search_docs finds them)")
        if lines
        else "(no headings)"
    )
    return quoted(f"{head}\n{body}", row.url)


def _heading_line(each: Heading, top: int) -> str:
    indent = "  " * max(0, each.level - top)
    return f"{indent}- {one_line(each.heading, 120)} #{one_line(each.anchor, 120)} ({each.tokens:,})"
