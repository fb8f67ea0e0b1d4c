"""A page as Markdown: find the document, take the page's furniture out of it, convert."""

import re
from collections.abc import Callable
from itertools import islice
from typing import Final, NamedTuple

from sumi.parse.html import (
    Document,
    Element,
    Text,
    body_of,
    collapse,
    find_each,
    is_on_page,
    new_element,
    select_each,
    texts_with_backslash,
    to_markdown,
)
from sumi.parse.markdown import blocks, drawn, formulas, inline
from sumi.parse.markdown.anchors import Anchors
from sumi.parse.markdown.article_signs import Signs, find_signs
from sumi.parse.markdown.callouts import quote_callout
from sumi.parse.markdown.chrome import (
    CHROME_TAGS,
    Part,
    drop_chrome_links,
    is_chrome_aside,
    link_share,
    part_of,
    shows_code,
)
from sumi.parse.markdown.code_blocks import CodeParts, find_code, prepare_code
from sumi.parse.markdown.content import (
    Bulk,
    Names,
    SoftChrome,
    content_root,
    find_soft_chrome,
    is_hard_chrome,
    read_names,
    unlinked_weight,
)
from sumi.parse.markdown.fidelity import Expected, Inventory, inventory_of_tree
from sumi.parse.markdown.folds import find_folded, settle_button
from sumi.parse.markdown.inline import (
    came_out_as_tags,
    emphasis_renderers,
    keep_tags_in_line,
    release_blocks,
)
from sumi.parse.markdown.left_out import (
    HIDDEN,
    LANDMARK,
    NAVIGATION,
    NOTICE,
    SCRIPT,
    LeftOut,
    number_of_words,
)
from sumi.parse.markdown.lookalikes import write_lookalikes
from sumi.parse.markdown.page_tools import take_off_tools
from sumi.parse.markdown.tables import TableFitter
from sumi.parse.markdown.tabs import Tabs, find_tabs, label_panels, show

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_SMALL_PARTS: Final = (
    "[hidden]:not([role=tabpanel]), [aria-hidden=true], "
    "span:is(.math, .arithmatex, .mw-editsection, .mw-cite-backlink, .sr-only, .visually-hidden, "
    ".screen-reader-text, [class*=MathJax])"
)
_SHOWN_AT_TIMES: Final = ("noscript", "dialog")
_A_LINE_OR_TWO: Final = 200
_NEAR: Final = 4
_MOSTLY: Final = 0.5
_FORMULA_BLOCKS: Final = ("div.math", "div.arithmatex")
_TITLES: Final = (
    "h1:is(#firstHeading, .entry-title, .title, main h1, article h1)",
    ".headertitle div.title",  # Doxygen
)


_PAGE_TITLES: Final = ("h1[class]", "h1[id]")
_PAGE_TITLE: Final = re.compile(r"(?:^|\s)(?:page|document|doc|title|article)[-_]?(?:title|heading)(?=$|\s)")


class Conversion(NamedTuple):
    markdown: str
    expected: Expected | None  # of a page that has a body


class _Findings(NamedTuple):
    """All that is asked of a page, before the first change to it: see ``select_each``. Some of it will turn
    out to be on no part of the page that is kept, which does no harm."""

    hard_chrome: list[Element]
    fallbacks: list[Element]
    names: Names
    soft_chrome: SoftChrome
    signs: Signs  # that the page is an article
    code: CodeParts
    numbered: list[Element]
    formula_blocks: list[Element]
    linked_blocks: list[Element]
    tabs: list[Tabs]
    folded: list[Element]
    task_lists: list[Element]
    unfolded: list[Element]  # data in code
    has_raw_formulas: bool
    fitter: TableFitter


def _look_through(document: Document) -> _Findings:
    hard_chrome = find_each(document, CHROME_TAGS)
    return _Findings(
        hard_chrome=hard_chrome,
        fallbacks=find_each(document, _SHOWN_AT_TIMES),
        names=read_names(document),
        soft_chrome=find_soft_chrome(document),
        signs=find_signs(document),
        code=find_code(document),
        numbered=document.select("li[value]"),
        formula_blocks=select_each(document, _FORMULA_BLOCKS),
        linked_blocks=select_each(document, inline.LINKED_BLOCKS),
        tabs=find_tabs(document),
        folded=find_folded(document),
        task_lists=drawn.find_task_lists(document),
        unfolded=drawn.find_unfolded(document),
        has_raw_formulas=drawn.sets_formulas(hard_chrome),
        fitter=TableFitter(document),
    )


def page_markdown(
    document: Document, base: str, left_out: LeftOut | None = None, *, anchors: bool = False
) -> Conversion:
    """Changes the document. ``left_out`` is told what is not in the Markdown. With ``anchors``, every place
    that another page may lead to is in it, and not only those that the page leads to itself."""
    body = body_of(document)
    if body is None:
        return Conversion("", None)
    for field in filter(shows_code, document.find_all("textarea")):
        field.tag = "pre"
    write_lookalikes(document)
    found = _look_through(document)
    left_out = LeftOut() if left_out is None else left_out
    take_off_tools(document, found.hard_chrome, left_out)
    for element in filter(is_hard_chrome, found.hard_chrome):
        if element.tag == "svg":
            drawn.write_diagram(element)
        elif element.tag in _UNSEEN:
            element.decompose()
        elif element.tag == "iframe":
            left_out.take_off_frame(element)
        else:
            left_out.take_off(element, LANDMARK if element.tag == "nav" else NAVIGATION)
    if found.fallbacks:
        _settle_fallbacks(found.fallbacks, body, left_out)
    bulk = content_root(body, found.names, found.soft_chrome, found.signs, left_out)
    root = bulk.root
    title = _title_outside(document, root)
    _take_off_chrome(bulk, found, left_out)
    root.resolve_links(base)
    inline.drop_unusable_addresses(root)
    places = Anchors(root, base, every=anchors)
    if title:
        root.insert(0, new_element("h1", title))
    inventory = inventory_of_tree(root)
    if "\xa0" in inventory.text:
        inline.plain_blanks(root)
        inventory = inventory._replace(text=inventory.text.replace("\xa0", " "))
    places.put_marks()
    inventory = _reshape(root, found, inventory)
    beside = bulk.words_beside + left_out.words_beside(root)
    expected = Expected(inventory, root, beside, left_out.words)
    markdown = places.write(found.fitter.aligned(_converted(root)))
    return Conversion(keep_tags_in_line(markdown), expected)


def _converted(root: Element) -> str:
    renderers = None
    if next(root.iter_elements(_WRITTEN_APART), None) is not None:
        release_blocks(root, ("q", "sub", "sup"))
        renderers = formulas.renderers_for(root)
    markdown = to_markdown(root, renderers)
    if not came_out_as_tags(markdown):
        return markdown
    release_blocks(root, ("b", "em", "i", "strong"))  # the converter alone would have put each block's own
    return to_markdown(root, {**(renderers or {}), **emphasis_renderers()})


def _settle_fallbacks(fallbacks: list[Element], body: Element, left_out: LeftOut) -> None:
    """What browsers without scripts see is a reproach or a copy, and a dialog is a notice, unless it is all
    there is, or a text of some length beside a line or two."""
    gaps = [Text("") for _ in fallbacks]
    for fallback, gap in zip(fallbacks, gaps, strict=True):
        fallback.replace_with(gap)
    rest = unlinked_weight(body)
    is_alone = not rest and next(body.stripped_strings, None) is None
    for fallback, gap in zip(fallbacks, gaps, strict=True):
        if is_alone or (rest < _A_LINE_OR_TWO < unlinked_weight(fallback)):
            fallback.tag = "div"
            gap.replace_with(fallback)
        else:
            kind = SCRIPT if fallback.tag == "noscript" else NOTICE
            left_out.add(kind, number_of_words(fallback), fallback)


def _title_outside(document: Document, root: Element) -> str:
    """The heading of a document whose generator puts it beside the content root."""
    if root.find("h1") is not None:
        return _title_of_page(document, root)
    heading = next((each for selector in _TITLES for each in document.select(selector)), None)
    heading = _heading_before(root) if heading is None else heading
    if heading is None:
        return ""
    for part in list(heading.iter_elements("div")):  # Doxygen's list of the groups that a class is in
        part.insert_before(Text(" "))
    if root in heading.ancestors:
        heading.tag = "h1"
        return ""
    return collapse(heading.text)


def _title_of_page(document: Document, root: Element) -> str:
    """Called so, where the headings of the root are those of its chapters."""
    for heading in select_each(document, _PAGE_TITLES):
        names = f"{heading.attr('class') or ''} {heading.attr('id') or ''}".lower()
        if _PAGE_TITLE.search(names) and root not in heading.ancestors and link_share(heading) < _MOSTLY:
            title = collapse(heading.text)
            return "" if any(title == collapse(each.text) for each in root.iter_elements("h1")) else title
    return ""


def _heading_before(root: Element) -> Element | None:
    """Right before the root, or before what is around it; what the site is called is in a header."""
    part = root
    for _ in range(_NEAR):
        before = (each for each in islice(part.previous_siblings, _NEAR) if isinstance(each, Element))
        for each in before:
            if each.tag == "h1" and link_share(each) < _MOSTLY:
                return each
        if not isinstance(part.parent, Element) or part.parent.tag in ("body", "html"):
            break
        part = part.parent
    return None


def _take_off_chrome(bulk: Bulk, found: _Findings, left_out: LeftOut) -> None:
    """What is left says what the page says, in the order and structure that it has."""
    root = bulk.root
    chrome = list(filter(is_on_page, found.names.chrome))
    if chrome or any(map(is_on_page, found.soft_chrome.asides)):
        bulk.weigh()  # now, or what is left of a bar might be most of what will be left of the page
    _unfold(found)
    prepare_code(found.code)
    # Only now, when code is no more a matter of thousands of spans.
    _settle_small_parts(root.select(_SMALL_PARTS), bulk, left_out)
    drop_chrome_links(list(root.iter_elements("a")))
    for block in found.linked_blocks:
        inline.release_linked_block(block, root)
    for block in found.formula_blocks:
        formulas.set_delimited(block)
    if found.has_raw_formulas:
        drawn.write_raw_formulas(texts_with_backslash(root))
    _settle_named(found, chrome, bulk, left_out)
    for element in list(root.iter_elements(_SETTLED)):
        if element.tag == "footer":
            _settle_footer(element, left_out)
        else:
            _SETTLERS[element.tag](element)


def _unfold(found: _Findings) -> None:
    """What pages show by a click, or draw."""
    for tabs in found.tabs:
        label_panels(tabs)
    for part in found.folded:
        show(part)
    for items in found.task_lists:
        drawn.write_boxes(items)
    for code in found.unfolded:
        drawn.write_unfolded(code)


def _reshape(root: Element, found: _Findings, inventory: Inventory) -> Inventory:
    """Everything that must not be converted as it is; and the inventory with what tables were found to be."""
    for item in found.numbered:
        blocks.plain_number(item)
    for element in list(root.iter_elements(_RESHAPED)):
        reshape = _RESHAPERS.get(element.tag)  # by now a term may be an item
        if reshape is not None:
            reshape(element)
    inline.link_from_code(root)
    if not found.fitter.has_any:
        return inventory
    for table in reversed(list(root.iter_elements("table"))):
        found.fitter.fit(table)
    return found.fitter.counted(inventory)


def _settle_small_parts(parts: list[Element], bulk: Bulk, left_out: LeftOut) -> None:
    for element in parts:
        if not _set_formula(element) and _is_small_chrome(element) and not bulk.is_mostly_in(element):
            left_out.take_off(element, HIDDEN)


def _settle_named(found: _Findings, bars: list[Element], bulk: Bulk, left_out: LeftOut) -> None:
    asides = found.soft_chrome.asides
    chrome = [*bars, *filter(is_chrome_aside, asides)]
    kept = bulk.kept_of(bars, list(filter(is_on_page, chrome)))
    # First, because a box knows its title by being the first in it, be it chrome or not.
    for box in dict.fromkeys(found.names.admonitions):
        quote_callout(box)
    for footnote in asides:
        blocks.join_label(footnote)
    for element in chrome:
        if element.tag != "blockquote" and element not in kept:
            left_out.take_off(element)


def _is_small_chrome(element: Element) -> bool:
    if element.attr("hidden") is not None or part_of(element.attr("class") or "") is Part.CHROME:
        return True
    return element.attr("aria-hidden") == "true" and not _says_anything(element)


def _says_anything(element: Element) -> bool:
    return any(character.isalnum() for character in element.text)


def _settle_footer(footer: Element, left_out: LeftOut) -> None:
    if footer.closest("blockquote") is None:
        left_out.take_off(footer)


def _settle_summary(summary: Element) -> None:
    """Of a fold that is there for the page's sake alone: "Expand description"."""
    if part_of(summary.attr("class") or "") is Part.CHROME:
        summary.decompose()


def _set_formula(element: Element) -> bool:
    classes = element.attr("class")
    if classes is None or not _FORMULA_CLASSES.intersection(classes.split()):
        return False
    formulas.set_delimited(element)
    return True


_WRITTEN_APART: Final = ("q", *formulas.RENDERED)
_UNSEEN: Final = frozenset({"script", "style", "template", "canvas"})
_FORMULA_CLASSES: Final = frozenset({"math", "arithmatex"})
_SETTLERS: Final[dict[str, Callable[[Element], None]]] = {
    "audio": inline.link_to_media,
    "button": settle_button,
    "img": inline.choose_image_source,
    "math": formulas.set_mathml,
    "script": formulas.set_math_script,
    "sub": formulas.set_script_position,
    "summary": _settle_summary,
    "sup": formulas.set_script_position,
    "video": inline.link_to_media,
    **dict.fromkeys(_HEADINGS, inline.tidy_heading),
}
_SETTLED: Final = ("footer", *_SETTLERS)
_RESHAPERS: Final[dict[str, Callable[[Element], None]]] = {
    "center": blocks.as_block,
    "dir": blocks.as_block,
    "dl": blocks.list_definitions,
    "dt": blocks.gather_stray_terms,
    "label": blocks.release_checkbox,
    "ol": blocks.plain_numbering,
    "summary": blocks.embolden_summary,
    "tt": blocks.as_code,
}
_RESHAPED: Final = tuple(_RESHAPERS)
