"""Emphasis with asterisks wherever CommonMark reads them as such, and tags only where it would not.

The converter falls back to ``<em>`` and ``<strong>`` for a whole paragraph as soon as one emphasis in it
holds a typographic apostrophe, which is every other page of English prose. So a page that came out with
such tags is converted once more with these renderers, which judge each emphasis by its own neighbours.
"""

from collections.abc import Mapping
from typing import Final

from sumi.parse.html import Element, RenderTag, Text

_MARKS: Final = {"em": "*", "i": "*", "strong": "**", "b": "**"}
_TAGS: Final = {"em": "em", "i": "em", "strong": "strong", "b": "strong"}


def came_out_as_tags(markdown: str) -> bool:
    # One character is looked for ten times as fast as four, and more than half of all pages have none of it.
    return "<" in markdown and ("<em>" in markdown or "<strong>" in markdown)


def emphasis_renderers() -> Mapping[str, RenderTag]:
    return dict.fromkeys(_MARKS, _render)


def _render(element: Element, content: str) -> str:
    core = content.strip()
    if not core:
        return content
    lead = content[: len(content) - len(content.lstrip())]
    trail = content[len(content.rstrip()) :]
    if _opens(element, core, lead) and _closes(element, core, trail):
        mark = _MARKS[element.tag]
        return f"{lead}{mark}{core}{mark}{trail}"
    tag = _TAGS[element.tag]
    return f"{lead}<{tag}>{core}</{tag}>{trail}"


def _opens(element: Element, core: str, lead: str) -> bool:
    """Left-flanking: before a letter always; before punctuation only after a blank or punctuation."""
    before = lead[-1:] or _last_character(element.previous_sibling)
    return before != "*" and (_is_word(core[0]) or not _is_word(before))


def _closes(element: Element, core: str, trail: str) -> bool:
    after = trail[:1] or _first_character(element.next_sibling)
    return after != "*" and (_is_word(core[-1]) or not _is_word(after))


def _is_word(character: str) -> bool:
    return character.isalnum()


def _last_character(node: object) -> str:
    if isinstance(node, Element) and node.tag in _MARKS:
        return "*"  # two emphases in touch: their marks would run together
    return _text_of(node)[-1:]


def _first_character(node: object) -> str:
    if isinstance(node, Element) and node.tag in _MARKS:
        return "*"
    return _text_of(node)[:1]


def _text_of(node: object) -> str:
    if isinstance(node, Text):
        return node.data
    return node.text if isinstance(node, Element) else ""
