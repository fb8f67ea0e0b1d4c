"""The text of a PDF, in the order in which it is drawn: headings by size, code by its typeface, lists by
their bullets. A PDF says where letters stand and seldom what they are, so tables stay lines of text."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from html import escape
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from sumi.parse.documents.document import MOST_CHARACTERS, Document, Unreadable, linked

if TYPE_CHECKING:
    import pypdfium2

MOST_PAGES: Final = 2_000
_LEVELS: Final = 4
_LARGER: Final = 1.15  # than the text of most lines: a heading
_LONGEST_HEADING: Final = 200  # characters
_APART: Final = 1.7  # of a line's height, from one line to the next: another paragraph
_RUNNING: Final = 2  # lines at either end of a page that may be its head and foot
_FEWEST_RUNNING: Final = 4  # pages that have the same
_FIXED_PITCH: Final = 1  # a flag of a font
_TYPEWRITERS: Final = (b"mono", b"courier", b"cmtt", b"typewriter", b"consol", b"code")  # in its name
_LONGEST_NAME: Final = 200
_ENCRYPTED: Final = "password"  # in what the library says
_BULLET: Final = re.compile(r"[•‣◦⁃∙▪▫●○■□–—*-]\s+(?=\S)")
_NUMBER: Final = re.compile(r"\d+|\b[ivxlc]+\b")  # of a page
_PAGED: Final = re.compile(r"\A0\s|\s0\Z")  # a line that begins or ends with the number of its page
_LEADERS: Final = re.compile(r"(?:\s?\.){5,}")
_HYPHEN: Final = re.compile(r"[^\W\d_]-\Z")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f￾￿]")


class _Line(NamedTuple):
    text: str
    page: int
    size: float  # its height
    left: float
    bottom: float
    is_code: bool

    @property
    def shape(self) -> str:
        """Alike on each page for a running head, whatever its page number."""
        return _NUMBER.sub("0", self.text)


def read_pdf(body: bytes) -> Document:
    try:
        import pypdfium2
    except ImportError as error:
        raise Unreadable("reading it needs sumi[documents]") from error
    try:
        opened = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        why = "it is encrypted" if _ENCRYPTED in str(error).lower() else "it is no PDF, or damaged"
        raise Unreadable(why) from error
    with closing(opened):
        return _read(opened)


def _read(opened: "pypdfium2.PdfDocument") -> Document:
    count = len(opened)
    lines, silent, problem = _lines(opened, min(count, MOST_PAGES))
    looked_at = min(count, MOST_PAGES)
    if count == 0 or silent == looked_at:
        raise Unreadable(f"its {count:,} pages have no text; they may be pictures of it")
    if count > MOST_PAGES:
        problem = problem or f"only the first {MOST_PAGES:,} of {count:,} pages were read"
    shortfalls = [f"pages: {silent:,} of {count:,} have no text"] if silent else []
    if problem:
        shortfalls.append(f"pages: {problem}")
    return Document(
        html="\n".join(_blocks(_without_running_lines(lines, looked_at))),
        title=_CONTROL.sub("", opened.get_metadata_dict().get("Title", "")).strip(),
        share=(looked_at - silent) / count,
        shortfalls=shortfalls,
        problem=problem,
    )


def _lines(opened: "pypdfium2.PdfDocument", most: int) -> tuple[list[_Line], int, str]:
    """With how many pages have none, and why the rest was not read."""
    import pypdfium2

    lines: list[_Line] = []
    silent = characters = 0
    for number in range(most):
        try:
            with closing(opened[number]) as page, closing(page.get_textpage()) as text:
                found = list(_lines_of(text, number + 1))
        except pypdfium2.PdfiumError:
            found = []
        lines += found
        silent += not found
        characters += sum(len(line.text) for line in found)
        if characters > MOST_CHARACTERS:
            return lines, silent, f"it has more than {MOST_CHARACTERS:,} characters"
    return lines, silent, ""


def _lines_of(text: "pypdfium2.PdfTextPage", page: int) -> Iterator[_Line]:
    whole = text.get_text_range(errors="replace")
    at = 0
    for raw in whole.splitlines(keepends=True):
        line = _LEADERS.sub(" …", _CONTROL.sub("", raw)).strip()
        if line:
            first = at + len(raw) - len(raw.lstrip())
            last = at + len(raw.rstrip()) - 1
            middle = (first + last) // 2
            looked_at = (first, middle, last)
            boxes = [text.get_charbox(index, loose=True) for index in looked_at]
            size = round(median(top - bottom for _, bottom, _, top in boxes), 1)
            left, bottom, _, _ = text.get_charbox(first, loose=True)
            yield _Line(
                line, page, size, left, bottom, all(_is_fixed_pitch(text, index) for index in looked_at)
            )
        at += len(raw)


def _is_fixed_pitch(text: "pypdfium2.PdfTextPage", index: int) -> bool:
    import ctypes

    from pypdfium2 import raw

    flags = ctypes.c_int()
    name = ctypes.create_string_buffer(_LONGEST_NAME)
    raw.FPDFText_GetFontInfo(text, index, name, _LONGEST_NAME, flags)
    return bool(flags.value & _FIXED_PITCH) or any(sign in name.value.lower() for sign in _TYPEWRITERS)


def _without_running_lines(lines: list[_Line], pages: int) -> list[_Line]:
    """Less the heads and feet that most pages repeat."""
    by_page = [list(group) for _, group in groupby(lines, key=lambda line: line.page)]
    met = Counter(shape for page in by_page for shape in {line.shape for line in _ends(page)})
    usual = max(_FEWEST_RUNNING, pages // 4)
    common = {shape for shape, times in met.items() if times >= usual or (times > 1 and _PAGED.search(shape))}
    common.add("0")
    kept: list[_Line] = []
    for page in by_page:
        ends = {id(line) for line in _ends(page) if line.shape in common}
        kept += [line for line in page if id(line) not in ends]
    return kept


def _ends(page: list[_Line]) -> list[_Line]:
    return page[:_RUNNING] + page[max(len(page) - _RUNNING, _RUNNING) :]


def _blocks(lines: list[_Line]) -> Iterator[str]:
    levels = _levels(lines)
    page = 0
    items: list[str] = []
    for block in _grouped(lines, levels):
        item = _item(block, levels)
        begins = block[0].page != page
        if items and (item is None or begins):
            yield f"<ul>{''.join(items)}</ul>"
            items = []
        if begins:
            page = block[0].page
            yield f'<a id="page={page}"></a>'
        if item is None:
            yield _html(block, levels)
        else:
            items.append(f"<li>{item}</li>")
    if items:
        yield f"<ul>{''.join(items)}</ul>"


def _item(block: list[_Line], levels: dict[float, int]) -> str | None:
    """None for what is no item of a list."""
    bullet = _BULLET.match(block[0].text)
    if bullet is None or block[0].is_code or block[0].size in levels:
        return None
    return linked(_joined(line.text for line in block)[bullet.end() :])


def _levels(lines: list[_Line]) -> dict[float, int]:
    """The level of a heading by its size. Nothing is one where most lines are of one size."""
    lengths: Counter[float] = Counter()
    for line in lines:
        lengths[line.size] += len(line.text)
    usual = lengths.most_common(1)[0][0] if lengths else 0.0
    larger = sorted((size for size in lengths if size >= usual * _LARGER), reverse=True)
    return {size: min(rank, _LEVELS) for rank, size in enumerate(larger, 1)}


def _grouped(lines: list[_Line], levels: dict[float, int]) -> Iterator[list[_Line]]:
    block: list[_Line] = []
    for line in lines:
        if block and not _goes_on(block[-1], line, levels):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _goes_on(before: _Line, line: _Line, levels: dict[float, int]) -> bool:
    if before.is_code != line.is_code or levels.get(before.size) != levels.get(line.size):
        return False
    if line.is_code or line.size in levels:
        return before.page == line.page
    if _BULLET.match(line.text):
        return False
    if before.page != line.page:  # a sentence that the end of a page cuts
        return not before.text.endswith((".", "!", "?", ":")) and line.text[0].islower()
    return abs(before.bottom - line.bottom) <= _APART * max(line.size, before.size)


def _html(block: list[_Line], levels: dict[float, int]) -> str:
    first = block[0]
    if first.is_code:
        edge = min(line.left for line in block)
        indents = (int((line.left - edge) / (line.size / 2 or 1)) for line in block)
        code = "\n".join(
            " " * min(indent, 40) + line.text for indent, line in zip(indents, block, strict=True)
        )
        return f"<pre><code>{escape(code)}</code></pre>"
    text = _joined(line.text for line in block)
    level = levels.get(first.size)
    if level is not None and len(text) <= _LONGEST_HEADING:
        return f"<h{level}>{escape(text)}</h{level}>"
    return f"<p>{linked(text)}</p>"


def _joined(lines: Iterable[str]) -> str:
    """One text, with words put together that a line's end divides."""
    text = ""
    for line in lines:
        if text and _HYPHEN.search(text) and line[0].islower():
            text = text[:-1] + line
        else:
            text = f"{text} {line}" if text else line
    return text
