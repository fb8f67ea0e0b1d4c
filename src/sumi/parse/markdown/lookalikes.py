"""What looks like one thing on a page and is made of another: tables of divisions, boxes of definition lists,
signatures of spans. Each becomes what it looks like, before anything else is asked of the page.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from sumi.parse.html import (
    Document,
    Element,
    Node,
    Text,
    collapse,
    element_children,
    new_element,
    select_each,
)
from sumi.parse.markdown.blocks import join_label
from sumi.parse.markdown.callouts import is_kind

_COLUMN: Final = re.compile(r"(?:^|\s)col-[a-z]")
_HEAD: Final = re.compile(r"(?:^|[-_\s])head(?:er)?(?=$|[-_\s])")
_SIGNATURE: Final = re.compile(
    r"(?:^|[-_\s])signature(?=$|\s)|(?:^|\s)(?:method|member|function)[-_]heading(?=$|\s)"
)
_CODE_HEADINGS: Final = tuple(f"h{level}.code-header" for level in range(1, 7))
_MORE: Final = frozenset({"More...", "More…"})
_LABELS: Final = ("label[class]", "span[class*=ethod]")  # of parameters, and of requests
_OPENED: Final = re.compile(r"\(\s+")
_OFFER: Final = re.compile(r"(?:click to )?(?:toggle|show|view|hide) source(?: code)?", re.IGNORECASE)
_SIGNS: Final = frozenset({"ⓘ", "ℹ", "🛈"})  # that show a title when pointed at
_CELLS: Final = {"cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th"}
_GRIDS: Final = frozenset({"table", "grid", "treegrid"})
_BLOCKS: Final = (
    "article", "blockquote", "br", "code", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "img",
    "li", "ol", "p", "pre", "section", "table", "ul",
)  # fmt: skip
_BLANKS: Final = re.compile(r"\s+")
_LONGEST: Final = 2_000
_FEWEST_COLUMNS: Final = 2
_MOST_COLUMNS: Final = 12
_MOST_LINES: Final = 60


def write_lookalikes(document: Document) -> None:
    """All are found before the first is changed: see ``select_each``."""
    divided = dict.fromkeys(
        first.parent for first in document.select("div.col-first") if isinstance(first.parent, Element)
    )
    grids = [each for each in document.select("div[role]") if each.attr("role") in _GRIDS]
    boxes = [each for each in document.select("dl[class]") if _is_box(each)]
    signatures = list(_signatures(document))
    headings = select_each(document, _CODE_HEADINGS)
    for note in document.select("div.citation"):
        join_label(note)
    for kind in document.select("dt .classifier"):
        _part_from_term(kind)
    for part in divided:
        _write_columns(part)
    for grid in grids:
        _write_grid(grid)
    for box in boxes:
        _write_box(box)
    for signature in signatures:
        _write_signature(signature)
    for heading in headings:
        _write_code_heading(heading)
    _write_signs(document)
    _part_labels(document)


def _write_columns(part: Element) -> None:
    """Cells one after the other, of which the classes tell the column."""
    cells = list(element_children(part))
    width = 0
    while width < len(cells) and _HEAD.search(cells[width].attr("class") or ""):
        width += 1
    if not _FEWEST_COLUMNS <= width <= _MOST_COLUMNS or len(cells) % width:
        return
    if not all(cell.tag == "div" and _COLUMN.search(cell.attr("class") or "") for cell in cells):
        return
    rows = []
    for start in range(0, len(cells), width):
        row = new_element("tr")
        for cell in cells[start : start + width]:
            cell.tag = "td" if start else "th"
            row.append(cell)
        rows.append(row)
    part.clear()
    part.tag = "table"
    part.extend(rows)


def _write_grid(grid: Element) -> None:
    rows = [row for row in grid.iter_elements("div") if row.attr("role") == "row"]
    cells = [[cell for cell in element_children(row) if cell.attr("role") in _CELLS] for row in rows]
    if len(rows) < _FEWEST_COLUMNS or not all(cells) or next(grid.iter_elements("table"), None) is not None:
        return
    for row, of_row in zip(rows, cells, strict=True):
        row.tag = "tr"
        for cell in of_row:
            cell.tag = _CELLS[cell.attr("role") or ""]
        row.clear()
        row.extend(of_row)
    grid.clear()
    grid.extend(rows)
    grid.tag = "table"
    del grid.attrs["role"]


def _part_from_term(kind: Element) -> None:
    """The type of what a term is; the colon between them is in the style sheet."""
    before = next(filter(_says_more, islice(kind.previous_siblings, 3)), None)
    words = before.data if isinstance(before, Text) else before.text if isinstance(before, Element) else ""
    if not words.rstrip().endswith(":"):
        kind.insert_before(Text(" : "))


def _is_box(definitions: Element) -> bool:
    """One term, which is what the box is called by its class as well."""
    parts = list(islice(element_children(definitions), 3))
    if len(parts) < 2 or parts[0].tag != "dt" or any(part.tag != "dd" for part in parts[1:]):
        return False
    return _kind_in(definitions.attr("class") or "", collapse(parts[0].text)) != ""


@lru_cache(maxsize=512)
def _kind_in(classes: str, term: str) -> str:
    words = term.lower().rstrip(":").replace(" ", "")
    return next((name for name in classes.lower().split() if name == words and is_kind(name)), "")


def _write_box(box: Element) -> None:
    term = next(element_children(box))
    box.attrs["class"] = f"admonition {_kind_in(box.attr('class') or '', collapse(term.text))}"
    box.tag = "div"
    for part in list(element_children(box)):
        part.tag = "div"
    term.tag = "p"
    term.attrs["class"] = "title"


def _signatures(document: Document) -> Iterator[Element]:
    """Of functions, in a line that is their own."""
    for line in (*document.select("div[class*=signature]"), *document.select("div[class*=-heading]")):
        if _SIGNATURE.search(line.attr("class") or "") is not None and (_is_line(line) or _is_lines(line)):
            yield line
    for line in document.select("div.attr"):
        if any(part.attr("class") == "name" for part in element_children(line)) and _is_line(line):
            yield line


def _is_line(element: Element) -> bool:
    if not all(each.has_class("decorator") for each in islice(element.iter_elements(_BLOCKS), _MOST_LINES)):
        return False
    return 0 < len(element.text.strip()) <= _LONGEST


def _is_lines(element: Element) -> bool:
    """Of code, parted by breaks."""
    blocks = [each.tag for each in islice(element.iter_elements(_BLOCKS), _MOST_LINES)]
    return "br" in blocks and set(blocks) <= {"br", "code"} and len(blocks) < _MOST_LINES


def _write_signs(document: Document) -> None:
    """Links that say something only when pointed at, or only that more is said elsewhere on the page."""
    for link in document.select("a[href]"):
        words = link.text.strip()
        if words in _SIGNS and link.attr("title"):
            link.replace_with(Text(f"({collapse(link.attr('title') or '')})"))
        elif words in _MORE and "#" in (link.attr("href") or ""):
            link.decompose()


def _part_labels(document: Document) -> None:
    labels = select_each(document, _LABELS)
    for row in dict.fromkeys(label.parent for label in labels if isinstance(label.parent, Element)):
        if row.tag == "div":
            for part in islice(element_children(row), 1, _MOST_COLUMNS):
                _part_from_neighbour(part)


def _part_from_neighbour(part: Element) -> None:
    """Of other classes, and words both: what only a style sheet keeps apart."""
    before = part.previous_sibling
    if not isinstance(before, Element) or before.attr("class") == part.attr("class"):
        return
    if not {before.tag, part.tag} <= {"label", "span"}:
        return
    words, after = before.text, part.text
    if len(words) > 1 and len(after) > 1 and words[-1].isalnum() and after[0].isalnum():
        part.insert_before(Text(" "))


def _write_code_heading(heading: Element) -> None:
    for part in heading.iter_elements("div"):
        part.insert_before(Text(" "))
    _collapse_texts(heading)
    heading.wrap_children(new_element("code"))


def _collapse_texts(line: Element) -> None:
    """What is in code is not collapsed any more, as it would be on the page."""
    for text in [node for node in line.descendants if isinstance(node, Text)]:
        text.replace_with(Text(_OPENED.sub("(", _BLANKS.sub(" ", text.data))))


def _hide_source(line: Element) -> None:
    """Of what the line is the signature of, if it offers to show it."""
    for offer in list(line.iter_elements(("span", "a"))):
        if offer.closest("label, button") is not None or not _OFFER.fullmatch(offer.text.strip()):
            continue
        offer.decompose()
        if isinstance(line.parent, Element):
            for source in line.parent.select("div[class*=source]"):
                if source.text.strip() == "".join(pre.text for pre in source.iter_elements("pre")).strip():
                    source.attrs["hidden"] = ""


def _part_decorators(line: Element) -> None:
    for decorator in list(line.select("div.decorator")):
        above = new_element("p")
        above.append(new_element("code", collapse(decorator.text)))
        line.insert_before(above)
        decorator.decompose()


def _write_signature(line: Element) -> None:
    if next(line.iter_elements("br"), None) is not None:
        for text in [node for node in line.descendants if isinstance(node, Text)]:
            text.replace_with(Text(text.data.replace("\xa0", " ")))
        line.tag = "pre"
        return
    _part_decorators(line)
    _hide_source(line)
    for label in list(line.iter_elements(("label", "input", "button"))):
        line.insert_after(label)  # of the line, whatever it does
    for text in [node for node in line.descendants if isinstance(node, Text)]:
        words = _BLANKS.sub(" ", text.data)
        if text.parent is line and not any(map(_says_more, text.previous_siblings)):
            words = words.lstrip()
        if text.parent is line and not any(map(_says_more, text.next_siblings)):
            words = words.rstrip()
        text.replace_with(Text(words))
    line.wrap_children(new_element("code"))
    line.tag = "p"


def _says_more(node: Node) -> bool:
    if isinstance(node, Text):
        return bool(node.data.strip())
    return isinstance(node, Element) and bool(node.text)
