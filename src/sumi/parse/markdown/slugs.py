"""The places in a Markdown text that links can lead to: its headings, by their words, and ``<a id>``."""

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import Final

from sumi.parse.markdown.link_targets import lines_of_prose

_NOT_IN_SLUG: Final = re.compile(r"[^\w\- ]")
_HEADING: Final = re.compile(r"(?:[ >]|[-*+] |\d{1,9}[.)] )*#{1,6}[ \t]+(.+)")
_PLACE: Final = re.compile(r'<a id="([^"<>]*)"></a>')
# Of a heading, what is not seen of it: tags, addresses of links, signs of code and emphasis.
_UNSEEN: Final = re.compile(r"<[^<>]*>|(?<=\])\([^()]*(?:\([^()]*\)[^()]*)*\)|(?<!\\)[\[\]`*]")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")


def slug_of(heading: str) -> str:
    """The id that readers of Markdown give a heading of these words."""
    return _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-")


class Slugs:
    """Of the headings of a page in their order: the second of a kind gets a number."""

    def __init__(self) -> None:
        self._met: Counter[str] = Counter()

    def next(self, heading: str) -> str:
        slug = slug_of(heading)
        number = self._met[slug]
        self._met[slug] += 1
        return f"{slug}-{number}" if number else slug


def places_in(markdown: str) -> Iterator[str]:
    slugs = Slugs()
    for line in lines_of_prose(markdown):
        if "<a id=" in line:
            yield from (unescape(found[1]) for found in _PLACE.finditer(line))
        if "#" in line and (heading := _HEADING.match(line)) is not None:
            yield slugs.next(unescape(_ESCAPED.sub(r"\1", _UNSEEN.sub("", heading[1]))))
