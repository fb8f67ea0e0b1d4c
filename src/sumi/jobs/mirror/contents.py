"""``_index.md``: the table of contents of a mirror, as nested lists that follow the folders.

Long lists are split: a folder with many pages gets its own file under ``_index/``, and a folder with very
many pages side by side is cut into parts. An output folder with more than one site gets an overview,
``_index.md`` and ``_manifest.json`` at its root, made from the sites' own manifests so that it also lists
the sites of earlier commands.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias

import msgspec

from sumi.files.plain_text import escape_marks, markdown_target, markdown_text, markdown_url
from sumi.files.safe_files import SafeFolder
from sumi.jobs.mirror.manifest import MirrorInfo, relative_to_home
from sumi.jobs.mirror.survey import STEP, Entry, Survey
from sumi.urls.paths import INDEX, PATH_FOLDERS

CONTENTS = "_index.md"
PARTS = "_index"
# Up to this many lines are easy to read and search in one file.
IN_ONE_FILE = 2000
# Beyond that, a list with more lines than this is split.
IN_ONE_LIST = 500
# An ending that this share of at least so many titles have in common is the site's name.
_ENOUGH_TITLES = 10
_MOST_TITLES = 0.8
_SEPARATOR = re.compile(r"\s+(?:[|·•—–-]|::?|»)\s+")
_NUMBER = re.compile(r"[0-9]+")
_PART_NAME = 40
OVERVIEW_VERSION = "1"
MANIFEST = "_manifest.json"
# A manifest's head has one line per key; outcomes and counts take a kilobyte or two.
HEAD_BYTES = 64 * 1024
_LISTS_BEGIN = b'\n"pages": ['
OpenFile: TypeAlias = Callable[[str], AbstractContextManager[BinaryIO]]


class _Group(NamedTuple):
    """Consecutive entries with the same folder name."""

    name: str
    first: int
    end: int

    @property
    def pages(self) -> int:
        return self.end - self.first


class _Part(NamedTuple):
    """A list in its own file: entries whose paths are equal up to ``offset``."""

    file: str
    heading: str
    start: int
    stop: int
    offset: int
    level: int


def in_order(entries: list[Entry]) -> list[Entry]:
    """Sorted for readers, without the site's name in each title."""
    return _without_site_name(sorted(entries, key=_reading_order))


def _reading_order(entry: Entry) -> str:
    return "".join(map(_name_in_order, entry.folder.split(STEP)))


@lru_cache(maxsize=4096)  # every page repeats the names of its folders
def _name_in_order(name: str) -> str:
    """A sort key: numbers by value, case ignored; equal names stay together."""
    return f"{_NUMBER.sub(_by_value, name.casefold())}\1{name}{STEP}"


def _by_value(number: re.Match[str]) -> str:
    digits = number[0].lstrip("0")
    return f"{len(digits):03d}{digits}"


def _without_site_name(entries: list[Entry]) -> list[Entry]:
    """An ending that most titles share is the site's name, which is noise in a list of its pages."""
    endings = Counter(_ending(entry.title) for entry in entries if entry.title)
    titled = endings.total()
    ending, times = endings.most_common(1)[0] if endings else ("", 0)
    if not ending or titled < _ENOUGH_TITLES or times < _MOST_TITLES * titled:
        return entries
    return [entry._replace(title=entry.title.removesuffix(ending) or entry.title) for entry in entries]


def _ending(title: str) -> str:
    ends = [found.start() for found in _SEPARATOR.finditer(title)]
    return title[ends[-1] :] if ends else ""


def write_contents(open_file: OpenFile, mirror: MirrorInfo, found: Survey) -> set[str]:
    """Write the contents and the files they are split into; returns the names of those files."""
    failed = f", {found.failed:,} failed" if found.failed else ""
    skipped = f", {found.skipped:,} skipped" if found.skipped else ""
    entries = in_order(found.entries)
    contents = _Contents(entries, mirror.home)
    with open_file(CONTENTS) as file:
        file.write(f"# {markdown_text(mirror.home)}\n\n".encode())
        counts = f"{_pages(len(entries))}{failed}{skipped}"
        file.write(f"Mirror of {markdown_url(mirror.source_url)}: {counts}.\n".encode())
        contents.write_hosts(file)
    written = set()
    while contents.parts:
        part = contents.parts.popleft()
        with open_file(part.file) as file:
            contents.write_part(file, part)
        written.add(part.file)
    return written


class _Contents:
    def __init__(self, entries: list[Entry], home: str) -> None:
        self._entries = entries
        self._home = home
        self._split = len(entries) > IN_ONE_FILE
        self._numbered = 0
        self.parts: deque[_Part] = deque()  # still to be written

    def write_hosts(self, file: BinaryIO) -> None:
        hosts = self._groups(0, len(self._entries), 0, 0)
        for host in sorted(hosts, key=lambda group: (group.name != self._home, group.name)):
            file.write(f"\n## {markdown_text(host.name)} ({_pages(host.pages)})\n\n".encode())
            inside = len(host.name)
            own_page = self._has_own_page(host, inside)
            if own_page:
                file.write(f"- {self._link(host, '')}\n".encode())
            self._write_folders(file, "", host.first + own_page, host.end, inside + 1, 1, 0)

    def write_part(self, file: BinaryIO, part: _Part) -> None:
        count = _pages(part.stop - part.start)
        file.write(f"# {part.heading}\n\n[Contents](../{CONTENTS}): {count}.\n\n".encode())
        self._write_folders(file, "../", part.start, part.stop, part.offset, part.level, 0)

    def _write_folders(
        self, file: BinaryIO, up: str, start: int, stop: int, offset: int, level: int, indent: int
    ) -> None:
        """The folders of ``entries[start:stop]``, whose paths are equal up to ``offset``."""
        groups = list(self._groups(start, stop, offset, level))
        for run in _runs(groups) if self._split and stop - start > IN_ONE_LIST else [groups]:
            if len(run) > 1 and run is not groups:
                self._refer_to_run(file, up, run, offset, level, indent)
                continue
            for group in run:
                self._write_folder(file, up, group, offset, level, indent)

    def _write_folder(
        self, file: BinaryIO, up: str, group: _Group, offset: int, level: int, indent: int
    ) -> None:
        inside = offset + len(group.name)
        own_page = self._has_own_page(group, inside)
        label = self._link(group, up) if own_page else f"{markdown_text(group.name)}/"
        rest = (group.first + own_page, group.end, inside + 1, level + 1)
        own_list = self._split and group.pages > IN_ONE_LIST // 2
        count = f" ({_pages(group.pages)})" if group.pages > own_page else ""
        if own_list:
            part = self._part(group.name, markdown_text(group.name), *rest)
            count = f" ([{_pages(group.pages)}]({_target_of(part, up)}))"
        file.write(f"{'  ' * indent}- {label}{count}\n".encode())
        if not own_list:
            self._write_folders(file, up, *rest, indent + 1)

    def _refer_to_run(
        self, file: BinaryIO, up: str, run: list[_Group], offset: int, level: int, indent: int
    ) -> None:
        """Link to a part of a long list by its first and last names."""
        ends = f"{markdown_text(run[0].name, 60)} … {markdown_text(run[-1].name, 60)}"
        start, stop = run[0].first, run[-1].end
        part = self._part(run[0].name, ends, start, stop, offset, level)
        file.write(f"{'  ' * indent}- [{ends}]({_target_of(part, up)}) ({_pages(stop - start)})\n".encode())

    def _part(self, name: str, heading: str, start: int, stop: int, offset: int, level: int) -> _Part:
        self._numbered += 1
        file = f"{PARTS}/{self._numbered:04d}-{name[:_PART_NAME].rstrip(' .')}.md"
        self.parts.append(_Part(file, heading, start, stop, offset, level))
        return self.parts[-1]

    def _has_own_page(self, group: _Group, inside: int) -> bool:
        return len(self._entries[group.first].folder) == inside

    def _groups(self, start: int, stop: int, offset: int, level: int) -> Iterator[_Group]:
        while start < stop:
            name = self._name(start, offset, level)
            end = start + 1
            while end < stop and self._name(end, offset, level) == name:
                end += 1
            yield _Group(name, start, end)
            start = end

    def _name(self, index: int, offset: int, level: int) -> str:
        folder = self._entries[index].folder
        # Our paths are never deeper; this keeps others from the recursion limit.
        end = folder.find(STEP, offset) if level <= PATH_FOLDERS else -1
        return folder[offset:] if end < 0 else folder[offset:end]

    def _link(self, group: _Group, up: str) -> str:
        folder, title, is_file = self._entries[group.first]
        file = f"{folder.replace(STEP, '/')}{'.md' if is_file else f'/{INDEX}'}"
        path = relative_to_home(file, self._home)
        return f"[{markdown_text(title) or markdown_text(group.name)}]({markdown_target(up + path)})"


def _runs(groups: list[_Group]) -> list[list[_Group]]:
    """Neighbours in lists of at most ``IN_ONE_LIST`` pages; a longer group is alone."""
    runs: list[list[_Group]] = []
    room = 0
    for group in groups:
        if group.pages > room:
            runs.append([])
            room = IN_ONE_LIST
        runs[-1].append(group)
        room -= group.pages
    return runs


def _target_of(part: _Part, up: str) -> str:
    return markdown_target(up + part.file)


def _pages(number: int) -> str:
    return "1 page" if number == 1 else f"{number:,} pages"


class Site(msgspec.Struct, frozen=True):
    """The head of a site's manifest, and the site's folder."""

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
    """Only if there is more than one site."""
    files = SafeFolder(root)
    try:
        with files.alone():  # other processes may mirror other sites into this folder
            sites = read_sites(files)
            if len(sites) > 1:
                files.write_atomic(CONTENTS, _overview_index(sites).encode())
                files.write_atomic(MANIFEST, _overview_manifest(sites))
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
        return None  # not our file


def _overview_manifest(sites: list[Site]) -> bytes:
    overview = _Overview(OVERVIEW_VERSION, sum(site.successful for site in sites), sites)
    text = msgspec.json.format(msgspec.json.encode(overview), indent=1).decode()
    return "".join(f"{escape_marks(line)}\n" for line in text.splitlines()).encode()


def _overview_index(sites: list[Site]) -> str:
    total = sum(site.successful for site in sites)
    lines = [f"# {len(sites)} sites", "", f"{total:,} pages in all.", ""]
    lines += ["| site | pages | failed | skipped | state |", "| --- | ---: | ---: | ---: | --- |"]
    lines += [_row(site) for site in sites]
    return "\n".join(lines) + "\n"


def _row(site: Site) -> str:
    name = f"[{markdown_text(site.folder)}]({markdown_target(f'{site.folder}/{CONTENTS}')})"
    state = f"done {site.crawl_completed}" if site.crawl_completed else "unfinished"
    counts = f"{site.successful:,} | {site.failed:,} | {site.skipped:,}"
    return f"| {name} {markdown_url(site.source_url).replace('|', '%7C')} | {counts} | {state} |"
