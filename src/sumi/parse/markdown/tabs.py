"""Tabs: a row of labels over a pile of panels, of which pages show one. In Markdown each panel has its label.

What belongs together is told by what makes tabs work for people who cannot see them: roles, and the ids that
labels and panels name each other by. Where there are none, by order, if there are as many of both.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from sumi.parse.html import Document, Element, collapse, element_children, new_element, select_each

_LONGEST_LABEL: Final = 100
_NEAR: Final = 4  # ancestors of a row of labels that panels are looked for in
_MOST: Final = 200  # panels of a page looked at one by one
_SWITCHES: Final = "input[type=radio]"  # what the labels are of; each would leave a blank line


class _Form(NamedTuple):
    """How a generator writes tabs: selectors of the whole, and within it of labels and panels."""

    whole: str
    labels: str
    panels: str


_FORMS: Final = (
    _Form("div.tabbed-set", ".tabbed-labels > label", ".tabbed-content > .tabbed-block"),  # MkDocs Material
    _Form("div.vp-code-group", ".tabs > label", ".blocks > *"),  # VitePress
    _Form("div.sd-tab-set", ":scope > label.sd-tab-label", ":scope > .sd-tab-content"),  # sphinx-design
    _Form("div.tab-set", ":scope > label", ":scope > .tab-content"),
)
# Nobody else is told that these are tabs.
_ROWS: Final = (
    *(f"{tag}[role=tablist]" for tag in ("div", "ul", "ol", "nav", "menu", "section", "span")),
    *(f"{tag}.{name}" for tag in ("ul", "div", "nav") for name in ("nav-tabs", "nav-pills")),
)
# Rows that only a class tells of, and what their panels are called.
_NAMED_ROWS: Final = tuple(f"{tag}[class*=tab]" for tag in ("div", "ul", "nav"))
_ROW_NAME: Final = re.compile(
    r"(?:^|\s|[-_])(?:tabs?|tab-?set|tabbed)(?:[-_](?:nav|bar|list|headers?|buttons|links|labels|menu|head|titles|"
    r"strip))?(?=$|\s)|(?:^|\s)tablist(?=$|\s)"
)
_PANEL_NAME: Final = re.compile(r"tab[\w-]*(?:panel|pane|content|item|body|block|page)(?=$|\s)")
_FEWEST: Final = 2
_MOST_LABELS: Final = 20
_LABELS: Final = "[role=tab], a, button, label"
_PANELS: Final = "[role=tabpanel], .tab-pane"
_REFERENCES: Final = ("aria-controls", "data-bs-target", "data-target", "href")


class Tab(NamedTuple):
    label: str
    panel: Element


class Tabs(NamedTuple):
    """What is to be removed once the panels have their labels, and these."""

    row: list[Element]
    tabs: list[Tab]


def find_tabs(document: Document) -> list[Tabs]:
    """Before anything is taken off the page: a row of labels may be a ``<nav>``."""
    found = [_written_as(form, whole) for form in _FORMS for whole in document.select(form.whole)]
    rows = dict.fromkeys(select_each(document, _ROWS))
    if rows:
        found += map(_read_row, rows)
    known = {tab.panel for each in found if each is not None for tab in each.tabs}
    for row in dict.fromkeys(select_each(document, _NAMED_ROWS)):
        if row not in rows and _ROW_NAME.search(row.attr("class") or "") is not None:
            named = _read_named(row)
            if named is not None and known.isdisjoint(tab.panel for tab in named.tabs):
                found.append(named)
    return [each for each in found if each is not None]


def label_panels(tabs: Tabs) -> None:
    for label, panel in tabs.tabs:
        if panel.parent is None:
            continue
        show(panel)
        if not label:
            continue
        title = new_element("p")
        title.append(new_element("strong", label[:_LONGEST_LABEL]))
        panel.insert_before(title)
    for part in tabs.row:
        part.decompose()


def show(element: Element) -> None:
    """What the page itself would show, once asked."""
    for name in ("hidden", "aria-hidden"):
        if element.attr(name) is not None:
            del element.attrs[name]


def _written_as(form: _Form, whole: Element) -> Tabs | None:
    """None where labels and panels are not one to one, as in tabs within tabs of a kind."""
    labels, panels = whole.select(form.labels), whole.select(form.panels)
    if not labels or len(labels) != len(panels):
        return None
    tabs = [Tab(collapse(label.text), panel) for label, panel in zip(labels, panels, strict=True)]
    return Tabs([*whole.select(_SWITCHES), *labels], tabs)


def _read_row(row: Element) -> Tabs | None:
    labels = _labels_of(row)
    if not labels:
        return None
    tabs = _by_reference(row, labels) or _by_order(row, labels)
    return Tabs([row], tabs) if tabs else None


def _read_named(row: Element) -> Tabs | None:
    """As many short labels as there are panels right behind them, or in what is there."""
    labels = list(islice(element_children(row), _MOST_LABELS))
    if len(labels) == 1:
        labels = list(islice(element_children(labels[0]), _MOST_LABELS))
    if len(labels) < _FEWEST or not all(map(_is_label, labels)):
        return None
    following = [each for each in islice(row.next_siblings, 2 * _MOST_LABELS) if isinstance(each, Element)]
    for parts in (following, *(list(islice(element_children(each), _MOST)) for each in following[:1])):
        panels = [part for part in parts if _PANEL_NAME.search(part.attr("class") or "") is not None]
        if len(panels) == len(labels):
            tabs = [Tab(_text_of(label), panel) for label, panel in zip(labels, panels, strict=True)]
            return Tabs([row], tabs)
    return None


def _is_label(part: Element) -> bool:
    if not 0 < len(part.text.strip()) <= _LONGEST_LABEL or part.tag not in (
        "a",
        "button",
        "div",
        "label",
        "li",
        "span",
    ):
        return False
    return next(part.iter_elements(("ul", "ol", "pre", "table", "h1", "h2", "h3")), None) is None


def _labels_of(row: Element) -> list[Element]:
    """Not those of rows within panels, where everything is in the row."""
    marked = [each for each in row.select("[role=tab]") if _row_around(each) is row]
    if marked:
        return marked
    return [each for each in row.select(_LABELS) if _row_around(each) is row]


def _row_around(label: Element) -> Element | None:
    return label.closest("[role=tablist], .nav-tabs, .nav-pills")


def _by_reference(row: Element, labels: list[Element]) -> list[Tab]:
    """Several labels of one panel choose what it shows, and none of them is its name."""
    panels = {panel.attr("id"): panel for panel in _panels_near(row)}
    panels.pop(None, None)
    named = {panel.attr("aria-labelledby"): panel for panel in panels.values()}
    found: dict[Element, str] = {}
    for label in labels:
        panel = next((panels[name] for name in _names_in(label) if name in panels), None)
        panel = named.get(label.attr("id") or "") if panel is None else panel
        if panel is not None:
            found[panel] = "" if panel in found else _text_of(label)
    return [Tab(label, panel) for panel, label in found.items()]


def _by_order(row: Element, labels: list[Element]) -> list[Tab]:
    for around in islice(row.ancestors, _NEAR):
        if not isinstance(around, Element):
            return []
        panels = [panel for panel in around.select(_PANELS) if _is_outermost(panel, around)]
        if len(panels) == len(labels):
            return [Tab(_text_of(label), panel) for label, panel in zip(labels, panels, strict=True)]
        if len(panels) == 1:  # the only one that the page has now, of the label that is chosen
            chosen = next((each for each in labels if each.attr("aria-selected") == "true"), None)
            return [] if chosen is None else [Tab(_text_of(chosen), panels[0])]
        if panels:
            return []
    return []


def _is_outermost(panel: Element, around: Element) -> bool:
    outer = panel.parent.closest(_PANELS) if isinstance(panel.parent, Element) else None
    return outer is None or outer is around or around not in outer.ancestors


def _panels_near(row: Element) -> list[Element]:
    """By what they are, or as the siblings of the row, or what is in those, which need not say so."""
    for around in islice(row.ancestors, _NEAR):
        if not isinstance(around, Element):
            break
        panels = list(islice(around.select(_PANELS), _MOST))
        if panels:
            return panels
    return list(islice(_following(row), _MOST))


def _following(row: Element) -> Iterator[Element]:
    for sibling in row.next_siblings:
        if isinstance(sibling, Element):
            yield sibling
            yield from element_children(sibling)


def _names_in(label: Element) -> Iterator[str]:
    parts = [label, *islice(label.iter_elements("a"), 1)]
    if isinstance(label.parent, Element) and label.parent.tag == "li":
        parts.append(label.parent)
    for part in parts:
        for name in _REFERENCES:
            value = part.attr(name)
            if value:
                yield value.rpartition("#")[2]


def _text_of(label: Element) -> str:
    return collapse(" ".join(label.stripped_strings)) or label.attr("aria-label") or ""
