"""Buttons: most do something, which Markdown cannot; those of an accordion are headings of what they show."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from sumi.parse.html import Document, Element, collapse, element_children, new_element, select_each

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_NAMED_BY_BUTTON: Final = frozenset({*_HEADINGS, "summary", "dt"})
_FOLDS: Final = tuple(f"{tag}[aria-controls]" for tag in ("button", "a", "div", "span"))
_OPENED: Final = tuple(f"{tag}[aria-expanded]" for tag in ("button", "a", "div", "span"))
_LONGEST: Final = 300
_BARS: Final = frozenset({"nav", "aside", "dialog"})
_NEAR: Final = 3  # ancestors whose following siblings may be what a button shows
# Of folds that say so by no attribute.
_FOLD_NAMES: Final = re.compile("accordion|collaps|disclosure|expander|expandable|faq|foldable|question")
# What opens menus and tools; what is behind them is no part of the document.
_TOOLS: Final = re.compile(
    r"menu|navbar|drawer|sidebar|search|dropdown|toc\b|theme|lang(?:uage)?-|modal|dialog|copy|clipboard|share"
)
_ACTIONS: Final = re.compile(
    r"(?:show|view|see|read|load|learn|expand|collapse|hide|toggle|open|close|copy|copied|share|search|menu|edit|"
    r"run|try it|download|print|settings|theme|more|less|next|previous|back|cancel|ok|on this page|"
    r"table of contents|subscribe|sign|log|accept|reject)\b"
)


def find_folded(document: Document) -> list[Element]:
    """What is hidden until somebody wants to read it; not what tools have behind them."""
    switches = [switch for switch in select_each(document, _FOLDS) if not _is_tool(switch)]
    nameless = [each for each in select_each(document, _OPENED) if each.attr("aria-controls") is None]
    found = [
        *(_shown_by(switch, switch.attr("aria-controls") or "") for switch in switches),
        *(_hidden_after(switch) for switch in nameless if not _is_tool(switch)),
    ]
    return [part for part in found if part is not None]


def settle_button(button: Element) -> None:
    parent = button.parent
    if isinstance(parent, Element) and parent.tag in _NAMED_BY_BUTTON:
        _settle_buttons_of(parent)
    elif button.parent is not None and _is_heading(button):
        _write_heading(button)
    else:
        button.decompose()


def _settle_buttons_of(heading: Element) -> None:
    """All at once, because one that folds is not beside the text of the others, but they are beside its."""
    buttons = [child for child in element_children(heading) if child.tag == "button"]
    is_named = _letters(heading) > sum(map(_letters, buttons))
    for button in buttons:
        if _is_fold(button) or (not is_named and button.text.strip()):
            is_named = True
            button.unwrap()
        else:
            button.decompose()


def _is_heading(button: Element) -> bool:
    """Of what it shows: a fold that says more than that it is one."""
    words = collapse(" ".join(button.stripped_strings))
    if not any(map(str.isalnum, words)) or len(words) > _LONGEST or _ACTIONS.match(words.lower()):
        return False
    is_fold = button.attr("aria-expanded") is not None or _FOLD_NAMES.search(_names(button)) is not None
    shows = button.attr("disabled") is not None or _has_text_behind(button)  # or has nothing to show
    return is_fold and not _is_tool(button) and shows


def _is_tool(button: Element) -> bool:
    if button.attr("aria-haspopup") is not None or button.attr("role") not in (None, "button"):
        return True
    return _TOOLS.search(f"{_names(button)} {button.attr('aria-controls') or ''}".lower()) is not None


def _names(element: Element) -> str:
    return f"{element.attr('class') or ''} {element.attr('id') or ''}"[:500].lower()


def _shown_by(switch: Element, name: str) -> Element | None:
    """What has the id, not far behind the switch, and is no bar."""
    found = next((each for each in _behind(switch) if each.attr("id") == name), None)
    return None if found is None or found.tag in _BARS else found


def _hidden_after(switch: Element) -> Element | None:
    """What is next to a switch that names nothing, or next to the heading that it is in."""
    heading = switch.parent
    if isinstance(heading, Element) and heading.tag in _NAMED_BY_BUTTON:
        switch = heading
    following = next((each for each in islice(switch.next_siblings, 4) if isinstance(each, Element)), None)
    if following is None or following.attr("hidden") is None or following.tag in _BARS:
        return None
    return following


def _behind(element: Element) -> Iterator[Element]:
    node = element
    for _ in range(_NEAR):
        yield from (each for each in islice(node.next_siblings, 4) if isinstance(each, Element))
        if not isinstance(node.parent, Element):
            return
        node = node.parent


def _has_text_behind(button: Element) -> bool:
    return any(each.tag not in ("button", *_HEADINGS) and each.text.strip() for each in _behind(button))


def _write_heading(button: Element) -> None:
    """As a line of its own that stands out. A heading in it is that line already."""
    if button.select_one(", ".join(_HEADINGS)) is not None:
        button.unwrap()
        return
    for chance in list(button.iter_elements("wbr")):
        around = chance.parent
        chance.decompose()
        if isinstance(around, Element) and next(element_children(around), None) is None:
            around.set_text(around.text)
    words = " ".join(button.stripped_strings)
    button.clear()
    button.tag = "p"
    button.attrs["class"] = ""
    button.append(new_element("strong", collapse(words)))


def _is_fold(button: Element) -> bool:
    return button.attr("aria-expanded") is not None or button.attr("aria-controls") is not None


def _letters(element: Element) -> int:
    """Numbers and signs are on both kinds of headings."""
    return sum(map(str.isalpha, element.text))
