"""Code: its language, wherever a highlighter wrote it, goes to where the Markdown converter reads it."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from sumi.parse.html import Document, Element, Text, collapse, element_children, new_element
from sumi.parse.markdown.chrome import IDS_INSIDE, MAX_CLASSES, Part, part_of
from sumi.parse.markdown.code_lines import are_numbers_of, lines_of, mark_changes, without_blank_ends

# A fence's info string must not hold a backtick or a blank; no language has a longer name.
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+#.-]{0,31}")
_PREFIXED: Final = re.compile(
    r"(?:^|\s|-highlight-)(?:language|lang|highlight|brush)[-:]\s*(?:source-)?([^\s;]+)"
)
_AFTER_MARKER: Final = re.compile(r"(?:^|\s)(?:sourceCode|hljs|prettyprint|src)\s+([A-Za-z][^\s;]*)")
# Of Hexo; on a <div> the class beside it may mean anything.
_IN_FIGURE: Final = re.compile(r"(?:^|\s)highlight\s+([A-Za-z][^\s;]*)")
_LANGUAGE_ATTRS: Final = ("data-lang", "data-language", "data-code-language")
_PARAMETERS: Final = "data-syntaxhighlighter-params"  # brush: py; gutter: false
# rustdoc and others give the bare name; only names that can mean nothing else.
_BARE_NAMES: Final = frozenset(
    {"rust", "python", "bash", "javascript", "typescript", "java", "cpp", "ruby", "golang", "mermaid"}
)
# On the code itself, with nothing beside it, hardly anything else is meant by these either.
_LANGUAGES: Final = """
    asm awk bat c c++ clojure cmake coffeescript console cs csharp css csv d2 dart diff docker dockerfile
    dot elixir elm erb erlang fish fortran fsharp gherkin glsl go gradle graphql graphviz groovy haskell
    hcl html http ini jinja js json json5 jsonc jsonnet jsx julia kotlin latex less lisp lua makefile
    markdown matlab md mdx nginx nim nix objc ocaml pascal perl php plantuml powershell prisma prolog
    proto protobuf ps1 py r rb regex rs rst sass scala scheme scss sh shell solidity sql svelte swift tcl
    terraform tex toml ts tsx vb vim vue wasm xml yaml yml zig zsh
"""
_ALONE: Final = frozenset(_LANGUAGES.split())
_SAME_AS: Final = {
    "python3": "python",
    "ipython": "python",
    "ipython3": "python",
    "py3": "python",
    "default": "",
    "none": "",
    "plain": "",
    "plaintext": "",
    "nohighlight": "",
    "no-highlight": "",
    "notranslate": "",
    "wrap": "",
    "linenos": "",
    "lang": "",
}

# Highlighters wrap <pre> in up to this many elements, one of which has the class; in tables, to number lines.
_WRAPPERS: Final = 3
_NEAR: Final = 8  # ancestors looked at; pages laid out in tables have dozens of them around each block
_NUMBERING: Final = frozenset({"td", "tr", "tbody", "table", "code", "pre"})
_MOST_IDS: Final = 2_000
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_HEADING_TAGS: Final = frozenset({"div", "figcaption", "header", "p", "span"})
_WITHIN: Final = ("span", "a", "b", "br", "button", "div", "em", "i", "li", "p", "strong", "tr")

# Numbers of lines, and what folds a part away. What cannot be selected the page itself leaves out when code
# is copied: numbers by Hugo, prompts by others.
_NOT_CODE: Final = (
    "[class*=lineno], [class*=line-number]:not(pre, code), .gutter, .ln, button, summary, "
    "span[style*='user-select:none'], span[style*='user-select: none'], "
    # What is laid over the code when it is pointed at, and what is not shown of an example.
    ".ttc, [role=tooltip], .tooltiptext, .twoslash-popup-container, .boring"
)


class CodeParts(NamedTuple):
    blocks: list[Element]
    fragments: list[Element]  # what Doxygen writes code in: neither lines nor signatures are <pre> or <code>
    signatures: list[Element]
    terms: list[Element]  # signatures as Sphinx writes them
    in_cells: dict[Element, None]  # blocks, in tables that may be there only to number lines
    # Whether any block may hold another, or its text in a <code>: the parser's index tells of all at once,
    # while to ask a block is a walk over each of its spans.
    has_nested: bool
    has_inner: bool
    has_ids: bool


def find_code(document: Document) -> CodeParts:
    blocks, fragments = document.find_all("pre"), document.select("div.fragment")
    return CodeParts(
        blocks,
        fragments,
        document.select("table.memname"),
        document.select("dt.sig"),
        dict.fromkeys(document.select("td pre")) if blocks else {},
        has_nested=bool(fragments) or (len(blocks) > 1 and document.select_one("pre pre") is not None),
        has_inner=bool(fragments) or (bool(blocks) and document.select_one("pre > code") is not None),
        has_ids=bool(fragments) or (bool(blocks) and document.select_one("pre [id]") is not None),
    )


def prepare_code(code: CodeParts) -> None:
    for fragment in code.fragments:
        fragment.tag = "pre"
    for table in code.signatures:
        _write_signature(table)
    for term in code.terms:
        _flatten_signature(term)
    around: list[Element] = []
    for pre in (*code.fragments, *code.blocks):
        if code.has_nested and pre.select_one("pre") is not None:
            around.append(pre)
        else:
            _prepare_block(pre, code)
    for pre in around:
        _release_nested(pre)
    for listing in dict.fromkeys(pre.closest("table") for pre in code.in_cells):
        if listing is not None:
            _release_listing(listing)


def _release_nested(pre: Element) -> None:
    """Of mdBook, around the block itself, or of Rouge, around a table; with a ``<code>`` between or not."""
    pre.tag = "div"
    for inner in element_children(pre):
        if inner.tag == "code" and next(inner.iter_elements("pre"), None) is not None:
            inner.tag = "div"


def _write_signature(table: Element) -> None:
    if table.parent is not None:
        signature = new_element("p")
        cells = (cell.text for cell in table.iter_elements("td"))
        signature.append(new_element("code", collapse(" ".join(cells))))
        table.replace_with(signature)


def _flatten_signature(term: Element) -> None:
    """Code in a dozen spans; as prose every underscore of it would be escaped."""
    for link in list(term.iter_elements("a")):
        if part_of(link.attr("class") or "") is Part.CHROME or link.text == "[source]":
            link.decompose()
    signature = collapse(term.text)
    term.clear()
    term.append(new_element("code", signature))


def _prepare_block(pre: Element, code: CodeParts) -> None:
    if any(isinstance(each, Element) and each.tag in _HEADINGS for each in islice(pre.ancestors, _WRAPPERS)):
        pre.tag = "span"  # a version beside a title
        pre.set_text(f" {collapse(pre.text)} ")
        return
    _drop_label(pre)
    _drop_numbers_beside(pre)
    inner = pre.select_one(":scope > code") if code.has_inner else None
    _mark_language(pre, inner)
    if next(pre.iter_elements(_WITHIN), None) is None:
        plain = pre.text
        shown = plain if pre in code.in_cells else without_blank_ends(plain)  # a column of numbers
        if not plain.startswith(shown) or plain.count("\n", len(shown)) > 1:
            pre.set_text(shown)
        return
    for part in pre.select(_NOT_CODE):
        part.decompose()
    if inner is not None:
        _release_heading(pre, inner)
    mark_changes(pre)
    if code.has_ids:
        _note_ids(pre)
    # Highlighting is hundreds of spans, and whatever walks over the page later would walk over them too.
    lines = lines_of(pre)
    pre.set_text(lines if pre in code.in_cells else without_blank_ends(lines))


def _note_ids(pre: Element) -> None:
    """Of places within the code that links lead to."""
    ids = [part.attr("id") or "" for part in islice(pre.select("[id]"), _MOST_IDS)]
    if ids:
        pre.attrs[IDS_INSIDE] = " ".join(ids)


def _release_heading(pre: Element, code: Element) -> None:
    """What stands over the code within the block, be it the name of a file, or where its buttons were."""
    for part in list(element_children(pre)):
        if part is code:
            return
        if part.tag in _HEADING_TAGS and part.parent is not None:
            words = collapse(part.text)
            part.decompose()
            if words and canonical_language(words) != language_of(pre):
                pre.insert_before(new_element("p", words))


def language_of(pre: Element) -> str:
    """Of a block that is prepared."""
    return (pre.attr("class") or "").removeprefix("language-")


def _drop_label(pre: Element) -> None:
    """The language written over a block, which the fence says again."""
    label = pre.previous_sibling
    if isinstance(label, Element) and label.tag == "span" and label.has_class("lang"):
        label.decompose()


def _drop_numbers_beside(pre: Element) -> None:
    """As VuePress and VitePress write them behind the block, for the style sheet to lay over it."""
    column = pre.next_sibling
    if isinstance(column, Text) and not column.data.strip():
        column = column.next_sibling
    if isinstance(column, Element) and _is_column_of_numbers(column):
        column.decompose()


def _is_column_of_numbers(element: Element) -> bool:
    if "line-number" not in (element.attr("class") or "") or element.tag == "pre":
        return False
    return element.select_one("pre") is None and not any(map(str.isalpha, element.text))


def _release_listing(table: Element) -> None:
    """Numbers in the one cell, code in the other: without the numbers nothing is left to be a table of."""
    around = table.closest("code")
    if around is not None:
        around.tag = "div"
    cells = list(islice(table.iter_elements(("td", "th")), 4))
    columns = [cell for cell in cells if cell.tag == "td"]
    # With one heading at most, which is the name of a file; two would be of columns.
    if len(columns) != 2 or len(cells) > 3 or columns[0].parent is not columns[1].parent:
        return
    numbers, listing = columns
    blocks = list(islice(listing.iter_elements("pre"), 2))
    if len(blocks) == 1 and _is_gutter(numbers, listing, blocks[0].text):
        numbers.decompose()


def _is_gutter(numbers: Element, listing: Element, code: str) -> bool:
    if part_of(numbers.attr("class") or "") is Part.CHROME:
        return True
    if len(listing.text.strip()) != len(code.strip()):
        return False
    words = " ".join(numbers.stripped_strings).split()
    # All that was in it could not be selected, and is gone.
    column = next(numbers.iter_elements("pre"), None)
    if not words:
        return column is not None
    text = "" if column is None else column.text
    return are_numbers_of(words, code) or are_numbers_of(words, code, len(text) - len(text.lstrip("\n")))


def _mark_language(pre: Element, code: Element | None) -> None:
    """Leaves one class on the block, safe to be written behind a fence, or none."""
    language = _language_of(pre, code)
    if code is not None and code.attr("class") is not None:
        del code.attrs["class"]
    if language:
        pre.attrs["class"] = f"language-{language}"
    elif pre.attr("class") is not None:
        del pre.attrs["class"]


def _language_of(pre: Element, code: Element | None) -> str:
    for element in _holders(pre, code):
        language = _declared(element)
        if language is not None:
            return language
    return ""


def _holders(pre: Element, code: Element | None) -> Iterator[Element]:
    if code is not None:
        yield code
    yield pre
    wrappers = 0
    for ancestor in islice(pre.ancestors, _NEAR):
        if not isinstance(ancestor, Element):
            return
        if ancestor.tag not in _NUMBERING:
            wrappers += 1
            # Farther out a class speaks of more than this block.
            if wrappers > _WRAPPERS or ancestor.tag not in ("div", "figure"):
                return
        yield ancestor


def _declared(element: Element) -> str | None:
    attributes = len(element.attrs)
    if not attributes:
        return None
    classes = element.attr("class")
    if attributes > 1 or classes is None:
        language = _said_by_attribute(element)
        if language is not None:
            return language
    if not classes or len(classes) >= MAX_CLASSES:
        return None
    language = (_in_figure(classes) if element.tag == "figure" else None) or language_in(classes)
    if language is None and element.tag in ("code", "pre") and classes.strip().lower() in _ALONE:
        return canonical_language(classes)
    return language


def _in_figure(classes: str) -> str | None:
    match = _IN_FIGURE.search(classes)
    return None if match is None else canonical_language(match[1])


def _said_by_attribute(element: Element) -> str | None:
    for name in _LANGUAGE_ATTRS:
        value = element.attr(name)
        if value:
            return canonical_language(value)
    if element.tag == "pre" and element.attr(_PARAMETERS):
        return language_in((element.attr(_PARAMETERS) or "")[:MAX_CLASSES])
    if element.tag == "pre" and element.attr("lang"):
        return canonical_language(element.attr("lang") or "")
    return None


@lru_cache(maxsize=1024)
def language_in(classes: str) -> str | None:
    """The language that a class attribute names, None if it names none."""
    match = _PREFIXED.search(classes) or _AFTER_MARKER.search(classes)
    if match is not None:
        return canonical_language(match[1])
    return next((name for name in classes.split() if name in _BARE_NAMES), None)


def canonical_language(name: str) -> str:
    """As written behind a fence; "" for no language, or for something that is none."""
    name = name.strip().lower()[:64]
    if not _LANGUAGE.fullmatch(name):
        return ""
    return _SAME_AS.get(name, name)
