"""Reads the files of the html5lib project: pages, and the trees that every browser makes of them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "html5lib"
_SECTION = re.compile(
    rb"^#(data|errors|new-errors|document-fragment|script-off|script-on|document)\n", re.MULTILINE
)


@dataclass
class Node:
    """An element or a text; ``name`` is empty for a text and has a prefix within svg and math."""

    name: str = ""
    text: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    children: list["Node"] = field(default_factory=list)

    def walk(self) -> Iterator["Node"]:
        """In document order. The content of a template is no part of the document."""
        yield self
        for child in self.children:
            if child.name != "content":
                yield from child.walk()


@dataclass(frozen=True)
class Page:
    name: str
    html: bytes
    tree: Node
    fragment: bool  # parsed as within some element, which a page never is
    scripted: bool  # what it looks like to who runs scripts


def tree_pages() -> list[Page]:
    return [page for path in sorted(FOLDER.glob("tree-construction/*.dat")) for page in _pages_of(path)]


def _pages_of(path: Path) -> Iterator[Page]:
    for number, case in enumerate(re.split(rb"(?:^|\n)(?=#data\n)", path.read_bytes())):
        if case.strip():
            yield _page(f"{path.stem}-{number}", case)


def _page(name: str, case: bytes) -> Page:
    pieces = _SECTION.split(case)
    sections = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    return Page(
        name,
        sections[b"data"].removesuffix(b"\n"),
        _tree(sections[b"document"].decode("utf-8", "surrogatepass")),
        b"document-fragment" in sections,
        b"script-on" in sections,
    )


def _tree(dump: str) -> Node:
    """Two blanks a level after the bar; a text goes on over lines until its closing quotation mark."""
    root = Node("#document")
    way = [root]
    for entry in re.split(r"^\| ", dump.rstrip("\n"), flags=re.MULTILINE)[1:]:
        bare = entry.removesuffix("\n").lstrip(" ")
        depth = (len(entry.removesuffix("\n")) - len(bare)) // 2
        del way[depth + 1 :]
        _take(bare, way)
    return root


def _take(entry: str, way: list[Node]) -> None:
    if entry.startswith('"'):
        way[-1].children.append(Node(text=entry[1:].removesuffix('"')))
    elif entry.startswith(("<!", "<?")):
        return  # a comment or a doctype
    elif entry.startswith("<") and entry.endswith(">"):
        way[-1].children.append(Node(entry[1:-1]))
        way.append(way[-1].children[-1])
    elif entry == "content":
        way[-1].children.append(Node("content"))
        way.append(way[-1].children[-1])
    else:
        name, _, value = entry.partition("=")
        way[-1].attributes[name] = value[1:-1]


def token_inputs() -> list[bytes]:
    """What the tokenizer's tests are fed with; their expectations are below what Sumi can see."""
    cases: list[dict[str, Any]] = []
    for path in sorted(FOLDER.glob("tokenizer/*.test")):
        found = json.loads(path.read_bytes())
        cases += found.get("tests") or found.get("xmlViolationTests") or []
    return [_spelled(case).encode("utf-8", "surrogatepass") for case in cases]


def _spelled(case: dict[str, Any]) -> str:
    text: str = case["input"]
    return text.encode().decode("unicode_escape") if case.get("doubleEscaped") else text


def encoding_pages() -> list[tuple[bytes, str]]:
    """Pages, and the encoding that a browser finds in each by looking at its bytes alone."""
    found = []
    for path in sorted(FOLDER.glob("encoding/*.dat")):
        cases = re.finditer(rb"#data\n(.*?)\n#encoding\n([^\n]*)", path.read_bytes(), re.DOTALL)
        found += [(case[1], case[2].decode().lower()) for case in cases]
    return found
