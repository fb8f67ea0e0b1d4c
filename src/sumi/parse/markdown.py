"""A page as Markdown: find the document, take the page's furniture out of it, convert."""

from collections.abc import Callable
from typing import Final

from sumi.parse import blocks, formulas, inline
from sumi.parse.chrome import Part, is_chrome_aside, is_chrome_id, is_chrome_link, is_chrome_role, part_of
from sumi.parse.code_blocks import gather_code, prepare_code
from sumi.parse.content import content_root, holds_most
from sumi.parse.html import Document, Element, body_of, collapse, new_element, to_markdown
from sumi.parse.tables import TableFitter

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
# Elements whose class or id says what they are. Not <span>: code is made of thousands of them.
_NAMED: Final = frozenset({"div", "ul", "ol", "table", "section", "aside", "details", "header", "pre"})
_WALKED: Final = tuple(
    _NAMED
    | {*_HEADINGS, "footer", "button", "dl", "summary", "tt", "center", "dir", "math", "script", "sup", "sub"}
    | {"img"}
)
_SMALL_PARTS: Final = (
    "[hidden]:not([role=tabpanel]), [aria-hidden=true], li[value], span.math, span.arithmatex, "
    "span.mw-editsection, span.mw-cite-backlink, span.sr-only, span.visually-hidden, "
    "span.screen-reader-text, span[class*=MathJax]"
)


def page_markdown(document: Document, base: str) -> str:
    body = body_of(document)
    if body is None:
        return ""
    _settle_noscript(body)
    root = content_root(body)
    title = _title_outside(document, root)
    prepare(root)
    inline.make_absolute(root, base)
    if title:
        root.insert(0, new_element("h1", title))
    return to_markdown(root, formulas.renderers_for(root))


def _settle_noscript(body: Element) -> None:
    """What browsers without scripts see is a reproach or a copy, unless it is all there is."""
    fallbacks = list(body.iter_elements("noscript"))
    if not fallbacks:
        return
    is_all = not _has_more_than(body, ("noscript", "script", "style", "template"))
    for fallback in fallbacks:
        if is_all:
            fallback.tag = "div"
        else:
            fallback.decompose()


def _has_more_than(body: Element, tags: tuple[str, ...]) -> bool:
    inside = sum(_ink(element.text) for element in body.iter_elements(tags))
    return _ink(body.text) > inside


def _ink(text: str) -> int:
    return sum(map(len, text.split()))


def _title_outside(document: Document, root: Element) -> str:
    """The heading of a document whose generator puts it beside the content root."""
    if next(root.iter_elements("h1"), None) is not None:
        return ""
    heading = document.select_one(
        "#firstHeading, h1.entry-title, .headertitle .title, main h1, article h1, h1.title"
    )
    return collapse(heading.text) if heading is not None else ""


def prepare(root: Element) -> None:
    """Everything that must not be converted as it is, found in as few walks as possible."""
    total = len(root.text)
    gather_code(root)
    for pre in list(root.iter_elements("pre")):
        prepare_code(pre)
    _settle_small_parts(root, total)
    for link in list(root.iter_elements("a")):
        classes = link.attr("class")
        if (classes is not None and part_of(classes) is Part.CHROME) or is_chrome_link(link):
            link.decompose()
    for element in list(root.iter_elements(_WALKED)):
        tag = element.tag
        if tag in _NAMED and _settle_by_name(element, total):
            continue
        handler = _HANDLERS.get(tag)
        if handler is not None:
            handler(element)
    tables = TableFitter()
    for table in reversed(list(root.iter_elements("table"))):
        tables.fit(table)


def _settle_small_parts(root: Element, total: int) -> None:
    for element in root.select(_SMALL_PARTS):
        if element.tag == "li":
            blocks.plain_number(element)
        elif not _set_formula(element) and _is_small_chrome(element) and not holds_most(element, total):
            element.decompose()


def _is_small_chrome(element: Element) -> bool:
    if element.attr("hidden") is not None or part_of(element.attr("class") or "") is Part.CHROME:
        return True
    return element.attr("aria-hidden") == "true" and not _says_anything(element)


def _says_anything(element: Element) -> bool:
    return any(character.isalnum() for character in element.text)


def _settle_by_name(element: Element, total: int) -> bool:
    """True when nothing is left to do with it."""
    classes = element.attr("class")
    part = Part.CONTENT if classes is None else part_of(classes)
    if part is Part.ADMONITION:
        blocks.quote_admonition(element)
        return True
    if (
        part is Part.CONTENT
        and not is_chrome_id(element.attr("id"))
        and not is_chrome_role(element.attr("role"))
    ):
        return False
    if not holds_most(element, total):
        element.decompose()
    return True


def _settle_aside(aside: Element) -> None:
    if is_chrome_aside(aside):
        aside.decompose()


def _settle_footer(footer: Element) -> None:
    if footer.closest("blockquote") is None:
        footer.decompose()


def _settle_button(button: Element) -> None:
    """Of an accordion it is the heading; elsewhere it does something, which Markdown cannot."""
    parent = button.parent
    if isinstance(parent, Element) and parent.tag in (*_HEADINGS, "summary", "dt"):
        button.unwrap()
    else:
        button.decompose()


def _set_formula(element: Element) -> bool:
    classes = element.attr("class")
    if classes is None or not _FORMULA_CLASSES.intersection(classes.split()):
        return False
    formulas.set_delimited(element)
    return True


def _settle_division(division: Element) -> None:
    _set_formula(division)


_FORMULA_CLASSES: Final = frozenset({"math", "arithmatex"})
_HANDLERS: Final[dict[str, Callable[[Element], None]]] = {
    "aside": _settle_aside,
    "button": _settle_button,
    "center": blocks.as_block,
    "dir": blocks.as_block,
    "div": _settle_division,
    "dl": blocks.list_definitions,
    "footer": _settle_footer,
    "img": inline.choose_image_source,
    "math": formulas.set_mathml,
    "ol": blocks.plain_numbering,
    "script": formulas.set_math_script,
    "sub": formulas.set_script_position,
    "summary": blocks.embolden_summary,
    "sup": formulas.set_script_position,
    "tt": blocks.as_code,
    **dict.fromkeys(_HEADINGS, inline.tidy_heading),
}
