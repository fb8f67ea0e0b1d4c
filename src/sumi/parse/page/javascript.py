"""Does a page say anything without JavaScript? From its bytes alone, and cheaply: every page is asked.

Reads forward only and stops as soon as enough text has been seen, which on an ordinary page is soon.
"""

import re
from dataclasses import dataclass, field
from typing import Final

# With a sign of an application (an empty container, a notice about JavaScript), a page is a shell unless it
# says a few hundred characters all the same.
_ENOUGH_TEXT: Final = 250
_ENOUGH_LINKS: Final = 5
# Without such a sign, only if it says next to nothing: "Loading…". In generated reference documentation,
# thousands of honest pages with scripts have fewer than a hundred characters, but a link, or more than this.
_NEXT_TO_NOTHING: Final = 40
_LOOKED_AT: Final = 512 * 1024  # a page whose text begins further down than this is a shell, too
_ATTRIBUTES: Final = 1000  # of a tag, in bytes

_NAME: Final = re.compile(rb"/?([a-z][a-z0-9-]*)")
_BLANK: Final = re.compile(rb"(?:\s|&nbsp;|&#160;)+")
_NOTHING: Final = re.compile(rb"\s{0,1000}</")
_HREF: Final = re.compile(rb"\shref\s{0,9}=")
_REFRESH: Final = re.compile(rb"\shttp-equiv\s{0,9}=\s{0,9}[\"']?refresh")
# Data in a script element does nothing.
_INERT: Final = re.compile(
    rb"\stype\s{0,9}=\s{0,9}[\"']?(?:application/(?:ld\+)?json|importmap|speculationrules)"
)
# What frameworks hang an application into.
_NAMED_ROOT: Final = (
    rb"\sid\s{0,9}=\s{0,9}[\"']?"
    rb"(root|app|__next|__nuxt|___gatsby|svelte|q-app|react-root|mount|application|main-app|swagger-ui)"
)
_ROOT: Final = re.compile(_NAMED_ROOT + rb"(?=[\"'\s/]|\Z)")
# Beside such a one the server may have written what is around the application.
_EMPTY_ROOT: Final = re.compile(
    rb"<(?:div|main|section)(?=\s)[^<>]{0,200}?" + _NAMED_ROOT + rb"(?=[\"'\s/>])[^<>]{0,200}>\s{0,1000}</"
    rb"|<(?:app-root|redoc|rapi-doc|elements-api)(?=[\s>])[^<>]{0,500}>\s{0,1000}</"
)
_FRAME: Final = frozenset({b"header", b"nav", b"aside", b"footer"})
# Elements whose content is not shown, or not shown to a browser that runs scripts.
_UNSHOWN: Final = frozenset({b"script", b"style", b"noscript", b"template", b"svg", b"title"})


def needs_javascript(body: bytes) -> str:
    """Why a page shows next to nothing as it is, in words; "" for a page that can be read."""
    page = body[:_LOOKED_AT].lower()
    shell = _Shell()
    shell.read(page)
    if shell.is_readable and _EMPTY_ROOT.search(page) is not None:
        shell = _Shell(passed_over=_UNSHOWN | _FRAME)
        shell.read(page)
    if not shell.scripts or shell.is_readable or shell.sends_on:
        return ""
    if shell.reason or shell.links or shell.text > _NEXT_TO_NOTHING:
        return shell.reason
    return f"{shell.text} characters of text beside {_counted(shell.scripts)}"


@dataclass(slots=True)
class _Shell:
    """What was seen of a page so far."""

    passed_over: frozenset[bytes] = field(default_factory=lambda: _UNSHOWN)
    text: int = 0
    links: int = 0
    scripts: int = 0
    sends_on: bool = False  # without a script, to where the content is
    empty_root: str = ""
    empty_element: str = ""
    plea: str = ""

    @property
    def is_readable(self) -> bool:
        return self.text >= _ENOUGH_TEXT or self.links >= _ENOUGH_LINKS

    @property
    def reason(self) -> str:
        return self.empty_root or self.plea or self.empty_element

    def read(self, page: bytes) -> None:
        at = 0
        while not self.is_readable:
            start = page.find(b"<", at)
            if start < 0:
                self._take_text(page[at:])
                return
            self._take_text(page[at:start])
            at = self._take_markup(page, start)
            if at < 0:  # it never ends, so nothing is shown after it
                return

    def _take_text(self, text: bytes) -> None:
        self.text += len(_BLANK.sub(b" ", text).strip())

    def _take_markup(self, page: bytes, start: int) -> int:
        """Where it ends; negative if it does not."""
        if page.startswith(b"<!--", start):
            return _after(page, b"-->", start + 4)
        name = _NAME.match(page, start + 1)
        end = _after(page, b">", start)
        if end < 0 or name is None:
            return end if page.startswith(b"<!", start) or end < 0 else start + 1
        if page[start + 1] == ord("/"):
            return end
        self._take_tag(name[1], page[start : min(end - 1, start + _ATTRIBUTES)], page, end)
        return self._after_unshown(name[1], page, end) if name[1] in self.passed_over else end

    def _take_tag(self, name: bytes, tag: bytes, page: bytes, end: int) -> None:
        if name == b"script":
            self.scripts += _INERT.search(tag) is None
        elif name == b"a":
            self.links += _HREF.search(tag) is not None
        elif name == b"meta":
            self.sends_on |= _REFRESH.search(tag) is not None
        elif root := _ROOT.search(tag):
            if _NOTHING.match(page, end):
                self.empty_root = f"an empty container #{root[1].decode('ascii')}"
        elif b"-" in name and _NOTHING.match(page, end):
            self.empty_element = f"an empty element <{name[:40].decode('ascii')}>"

    def _after_unshown(self, name: bytes, page: bytes, end: int) -> int:
        closing = page.find(b"</" + name, end)
        if name == b"noscript":
            self._take_noscript(page[end:closing])
        return closing if closing < 0 else _after(page, b">", closing)

    def _take_noscript(self, content: bytes) -> None:
        self.sends_on |= _REFRESH.search(content) is not None
        if b"javascript" in content:
            self.plea = "a notice that JavaScript is needed"


def _after(page: bytes, what: bytes, start: int) -> int:
    found = page.find(what, start)
    return found if found < 0 else found + len(what)


def _counted(scripts: int) -> str:
    return "one script" if scripts == 1 else f"{scripts} scripts"
