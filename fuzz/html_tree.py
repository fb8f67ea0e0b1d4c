"""Trees of hostile text to Markdown: a byte opens, fills or closes an element, so every input is a page.

Mutations of plain HTML seldom nest well; what stands in what is where converters go wrong.
"""

from html import escape

from fuzz.html_page import check_body
from tests.corpora import hostile_text

_TAGS = (
    *("p", "div", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "td", "th", "caption", "pre"),
    *("code", "a", "b", "i", "em", "strong", "h1", "h2", "sup", "sub", "q", "blockquote", "details"),
    *("summary", "aside", "math", "span", "header", "figure", "figcaption", "button", "center"),
    *("noscript", "s", "del", "ins", "kbd", "mark", "small", "u", "br", "hr", "img", "section"),
    *("article", "main", "template", "svg", "select", "option", "label", "address", "cite", "samp"),
    *("var", "abbr", "tt"),
)
_ATTRIBUTES = (
    "",
    " href='{}'",
    " title='{}'",
    " class='{}'",
    " src='{}' alt='{}'",
    " colspan=3",
    " rowspan=2",
)
_OTHER_ATTRIBUTES = (
    " class=admonition",
    " class='math display'",
    " class=language-x",
    " start=-1",
    " hidden",
)
_ALL_ATTRIBUTES = _ATTRIBUTES + _OTHER_ATTRIBUTES
_TEXTS = [escape(text[:100]) for text in hostile_text.ALL]
_CLOSE = 255
_TEXT = 160  # from here on up to _CLOSE: text, chosen by the next byte


def check(data: bytes) -> None:
    check_body(page_of(data).encode("utf-8", "replace"))


def page_of(data: bytes) -> str:
    parts: list[str] = []
    open_tags: list[str] = []
    numbers = iter(data)
    for number in numbers:
        if number == _CLOSE:
            parts.append(f"</{open_tags.pop()}>" if open_tags else "")
        elif number >= _TEXT:
            parts.append(_text(next(numbers, 0)))
        else:
            tag = _TAGS[number % len(_TAGS)]
            open_tags.append(tag)
            parts.append(f"<{tag}{_attributes(next(numbers, 0))}>")
    return "".join(parts)


def _text(number: int) -> str:
    return _TEXTS[number % len(_TEXTS)]


def _attributes(number: int) -> str:
    return _ALL_ATTRIBUTES[number % len(_ALL_ATTRIBUTES)].replace("{}", _text(number))
