"""Flat trees of Markdown for Obsidian and MkDocs: ``library/asyncio-task.md``, with links
between the files."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sumi.exchange.listing import Listed
from sumi.exchange.material import Material
from sumi.exchange.result import NewTree, new_folder
from sumi.files.plain_text import iso_utc, markdown_target, one_line, quoted
from sumi.parse.markdown.link_targets import replace_targets
from sumi.urls import split
from sumi.urls.paths import caseless, digest_of, page_path

ASSETS: Final = "_assets"
_AT_ONCE: Final = 500
_PAGE_ENDING: Final = re.compile(
    r"\.(?:x?html?|php\d?|aspx?|jsp|md|markdown)(?=(?:__q_.*)?\Z)", re.IGNORECASE
)
_UNWANTED: Final = re.compile(
    r"[#^\[\]|%`<>\s]+"
)  # Obsidian's own syntax, and what has to be quoted in links
_WEB: Final = ("http:", "https:")


def write_obsidian(material: Material, target: Path) -> int:
    with new_folder(target) as tree:
        return _write_pages(material, tree, "", with_aliases=True)


def write_mkdocs(material: Material, target: Path) -> int:
    with new_folder(target) as tree:
        count = _write_pages(material, tree, "docs/", with_aliases=False)
        with tree.stream("mkdocs.yml") as file:
            for line in _configuration(material):
                file.write(f"{line}\n".encode("utf-8", "replace"))
    return count


def _write_pages(material: Material, tree: NewTree, below: str, *, with_aliases: bool) -> int:
    _give_names(material)
    wanted: set[int] = set()  # files that a page shows or links to
    count = 0
    for listed, text in material.texts(material.listing.by_url()):
        body = replace_targets(text, lambda target, one=listed: _local(material, one, target, wanted))  # type: ignore[misc]
        tree.write(below + listed.name, _page(listed, body, with_aliases=with_aliases))
        count += 1
    for file in material.listing.files():
        data = material.body(file) if file.number in wanted else None
        if data is not None:
            tree.write(below + file.name, data)
        elif file.number in wanted:
            material.miss_body(file)
    return count


def _page(listed: Listed, body: str, *, with_aliases: bool) -> bytes:
    page = listed.page
    title = one_line(page.title)
    head = ["---", f"title: {quoted(title or page.url)}", f"url: {quoted(page.url)}"]
    if page.fetched_at:
        head.append(f"fetched_at: {quoted(iso_utc(page.fetched_at))}")
    if with_aliases and title:
        head.append(f"aliases: [{quoted(title)}]")
    return ("\n".join((*head, "---", "", body.strip("\n"))) + "\n").encode("utf-8", "replace")


def _local(material: Material, listed: Listed, target: str, wanted: set[int]) -> str | None:
    if not target.startswith(_WEB):
        return None
    found, fragment = material.listing.find_target(target)
    if found is None or not found.name:
        return None
    if found.page.form == "file":
        wanted.add(found.number)
    # As if from the root: otherwise the system is asked each time where we are.
    path = posixpath.relpath(f"/{found.name}", f"/{posixpath.dirname(listed.name)}")
    return markdown_target(path) + (f"#{fragment}" if fragment and found.page.form != "file" else "")


# ── names ──────────────────────────────────────────────────────────────────────────────────────────────────


def _give_names(material: Material) -> None:
    listing, taken = material.listing, set[int]()
    with_host = listing.sites() > 1
    named: list[tuple[str, int]] = []
    for listed in listing.by_url():
        named.append((_free(flat_name(listed.page.url, with_host=with_host), taken), listed.number))
        if len(named) >= _AT_ONCE:
            listing.rename(named)
            named = []
    for listed in listing.files():
        name = f"{ASSETS}/{_UNWANTED.sub('-', posixpath.basename(listed.page.path))}"
        named.append((_free(name, taken), listed.number))
    listing.rename(named)


def _free(name: str, taken: set[int]) -> str:
    """Itself, or with a number if another file has that name on some disk."""
    stem, dot, suffix = name.rpartition(".")
    number, free = 1, name
    while digest_of(caseless(free)) in taken:
        number += 1
        free = f"{stem}-{number}{dot}{suffix}"
    taken.add(digest_of(caseless(free)))
    return free


def flat_name(url: str, *, with_host: bool) -> str:
    host, *folders, _ = page_path(url).split("/")
    if not folders or split(url).path.endswith("/"):
        folders.append("index")
    else:
        folders[-1] = _PAGE_ENDING.sub("", folders[-1]) or folders[-1]
    names = [_UNWANTED.sub("-", name).strip("-") or "-" for name in folders]
    if names[-1].casefold() == "readme":  # MkDocs takes it for the index of its folder
        names[-1] += "-page"
    return "/".join([*([host] if with_host else []), *names]) + ".md"


# ── mkdocs.yml ─────────────────────────────────────────────────────────────────────────────────────────────


def _configuration(material: Material) -> Iterator[str]:
    yield f"site_name: {quoted(one_line(material.title(), 200))}"
    yield "docs_dir: docs"
    # Otherwise a folder of this name at the top would be left out.
    yield 'exclude_docs: "!/templates/"'
    yield "nav:"
    first = next((one for one in material.listing.by_name() if one.name == "index.md"), None)
    if first is not None:
        yield _entry(first, 0)
    above: list[str] = []
    for listed in material.listing.by_name():
        *folders, _ = listed.name.split("/")
        if listed.name == "index.md":
            continue
        same = 0
        while same < min(len(above), len(folders)) and above[same] == folders[same]:
            same += 1
        for depth in range(same, len(folders)):
            yield f"{_indent(depth)}- {quoted(folders[depth])}:"
        above = folders
        yield _entry(listed, len(folders))


def _entry(listed: Listed, depth: int) -> str:
    title = one_line(listed.page.title, 200) or listed.name
    return f"{_indent(depth)}- {quoted(title)}: {quoted(listed.name)}"


def _indent(depth: int) -> str:
    return "  " * (2 * depth + 1)
