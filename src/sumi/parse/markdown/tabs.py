"""Tabs: each panel under its label, where pages have a row of labels over a pile of panels."""

from typing import Final, NamedTuple

from sumi.parse.html import Document, Element, collapse, new_element

_LONGEST_LABEL: Final = 100
_SWITCHES: Final = "input[type=radio]"  # what the labels are of; each would leave a blank line


class _Form(NamedTuple):
    """How a generator writes tabs: selectors of the whole, and within it of labels and panels."""

    whole: str
    labels: str
    panels: str


_FORMS: Final = (
    _Form("div.tabbed-set", ".tabbed-labels > label", ".tabbed-content > .tabbed-block"),  # MkDocs Material
    _Form("div.tabs-container", "[role=tablist] > [role=tab]", "[role=tabpanel]"),  # Docusaurus
    _Form("div.vp-code-group", ".tabs > label", ".blocks > *"),  # VitePress
    _Form("div.sphinx-tabs", "[role=tablist] > [role=tab]", "[role=tabpanel]"),
    _Form("div.sd-tab-set", ":scope > label.sd-tab-label", ":scope > .sd-tab-content"),  # sphinx-design
)


_ANY: Final = ", ".join(form.whole for form in _FORMS)


class Tabs(NamedTuple):
    whole: Element
    form: _Form


def find_tabs(document: Document) -> list[Tabs]:
    if document.select_one(_ANY) is None:
        return []
    return [Tabs(whole, form) for form in _FORMS for whole in document.select(form.whole)]


def label_panels(tabs: Tabs) -> None:
    """Left as they are where labels and panels are not one to one, as in tabs within tabs of a kind."""
    labels = tabs.whole.select(tabs.form.labels)
    panels = tabs.whole.select(tabs.form.panels)
    if not labels or len(labels) != len(panels):
        return
    for switch in tabs.whole.select(_SWITCHES):
        switch.decompose()
    for label, panel in zip(labels, panels, strict=True):
        title = new_element("p")
        title.append(new_element("strong", collapse(label.text)[:_LONGEST_LABEL]))
        panel.insert_before(title)
        label.decompose()
        if panel.attr("hidden") is not None:
            del panel.attrs["hidden"]
