"""``_index.md`` and ``_manifest.json`` at the root of an output folder that holds more than one site.

Made from the heads of the sites' own manifests, so that it also knows the sites of earlier commands.
"""

from pathlib import Path

import msgspec

from sumi.files.plain_text import escape_marks, markdown_target, markdown_text, markdown_url
from sumi.files.safe_files import SafeFolder

VERSION = "1"
MANIFEST = "_manifest.json"
# The head is one line per key; outcomes and counts take a kilobyte or two.
HEAD_BYTES = 64 * 1024
_LISTS_BEGIN = b'\n"pages": ['


class Site(msgspec.Struct, frozen=True):
    """The head of a site's manifest, and where it is."""

    source_url: str
    crawl_started: str | None = None
    crawl_completed: str | None = None
    successful: int = 0
    failed: int = 0
    skipped: int = 0
    discovered: int = 0
    folder: str = ""


class _Overview(msgspec.Struct, frozen=True):
    version: str
    total_pages: int
    sites: list[Site]


def write_overview(root: Path) -> None:
    """Written only where there is something to look over: a single site has an index of its own."""
    files = SafeFolder(root)
    try:
        with files.alone():  # others may mirror other sites into the same folder
            sites = read_sites(files)
            if len(sites) > 1:
                files.write_atomic("_index.md", _contents(sites).encode())
                files.write_atomic(MANIFEST, _manifest(sites))
    finally:
        files.close()


def read_sites(files: SafeFolder) -> list[Site]:
    sites = []
    for name in sorted(files.names("")):
        if not name.startswith((".", "_")) and files.is_folder(name):
            head = files.read_bytes(f"{name}/{MANIFEST}", HEAD_BYTES)
            site = None if head is None else _site(head)
            if site is not None:
                sites.append(msgspec.structs.replace(site, folder=name))
    return sites


def _site(start: bytes) -> Site | None:
    head, lists, _ = start.partition(_LISTS_BEGIN)
    try:
        return msgspec.json.decode(head.rstrip(b",\n") + b"}", type=Site) if lists else None
    except msgspec.MsgspecError:
        return None  # somebody else's file


def _manifest(sites: list[Site]) -> bytes:
    overview = _Overview(VERSION, sum(site.successful for site in sites), sites)
    text = msgspec.json.format(msgspec.json.encode(overview), indent=1).decode()
    return "".join(f"{escape_marks(line)}\n" for line in text.splitlines()).encode()


def _contents(sites: list[Site]) -> str:
    total = sum(site.successful for site in sites)
    lines = [f"# {len(sites)} sites", "", f"{total:,} pages in all.", ""]
    lines += ["| site | pages | failed | skipped | state |", "| --- | ---: | ---: | ---: | --- |"]
    lines += [_row(site) for site in sites]
    return "\n".join(lines) + "\n"


def _row(site: Site) -> str:
    name = f"[{markdown_text(site.folder)}]({markdown_target(f'{site.folder}/_index.md')})"
    state = f"done {site.crawl_completed}" if site.crawl_completed else "unfinished"
    counts = f"{site.successful:,} | {site.failed:,} | {site.skipped:,}"
    return f"| {name} {markdown_url(site.source_url).replace('|', '%7C')} | {counts} | {state} |"
