"""``_index.md``: the table of contents of a mirror, as nested lists that follow the folders."""

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import NamedTuple

from sumi.outputs.manifest import Mirror, Survey, pages_here, relative_to_home
from sumi.outputs.plain_text import markdown_target, markdown_text, markdown_url
from sumi.ports import Ledger
from sumi.urls.paths import INDEX, PATH_FOLDERS

# Sorts below every character of a file name, so that a folder's own page comes first, then what is inside it,
# then its neighbours.
_STEP = "\0"


class Entry(NamedTuple):
    folder: str  # with _STEP between the names
    title: str


class _Group(NamedTuple):
    """Neighbouring entries of one folder name."""

    name: str
    first: int
    end: int


async def read_entries(ledger: Ledger) -> list[Entry]:
    """Folder and title of every page, in the order of the contents."""
    entries = [
        Entry(record.facts.path.removesuffix(f"/{INDEX}").replace("/", _STEP), record.facts.title or "")
        async for record in pages_here(ledger)
        if record.facts.path is not None
    ]
    entries.sort(key=itemgetter(0))
    return entries


def write_contents(
    emit: Callable[[str], object], mirror: Mirror, entries: list[Entry], found: Survey
) -> None:
    """Emit the whole file, line by line."""
    failed = f", {found.failed:,} failed" if found.failed else ""
    skipped = f", {found.skipped:,} skipped" if found.skipped else ""
    emit(f"# {markdown_text(mirror.home)}\n\n")
    emit(f"Mirror of {markdown_url(mirror.source_url)}: {_pages(len(entries))}{failed}{skipped}.\n")
    _Contents(emit, entries, mirror.home).write()


class _Contents:
    def __init__(self, emit: Callable[[str], object], entries: list[Entry], home: str) -> None:
        self._emit = emit
        self._entries = entries
        self._home = home

    def write(self) -> None:
        hosts = self._groups(0, len(self._entries), 0, 0)
        for host in sorted(hosts, key=lambda group: (group.name != self._home, group.name)):
            self._emit(f"\n## {markdown_text(host.name)} ({_pages(host.end - host.first)})\n\n")
            inside = len(host.name)
            own_page = len(self._entries[host.first].folder) == inside
            if own_page:
                self._emit(f"- {self._link(host)}\n")
            self._write_folders(host.first + own_page, host.end, inside + 1, 1)

    def _write_folders(self, start: int, stop: int, offset: int, level: int) -> None:
        """The folders among ``entries[start:stop]``, whose paths agree up to ``offset``."""
        for group in self._groups(start, stop, offset, level):
            inside = offset + len(group.name)
            own_page = len(self._entries[group.first].folder) == inside
            label = self._link(group) if own_page else f"{markdown_text(group.name)}/"
            pages = group.end - group.first
            count = f" ({_pages(pages)})" if pages > own_page else ""
            self._emit(f"{'  ' * (level - 1)}- {label}{count}\n")
            self._write_folders(group.first + own_page, group.end, inside + 1, level + 1)

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
        # No path of ours is deeper; a stranger's ends here rather than at the interpreter's recursion limit.
        end = folder.find(_STEP, offset) if level <= PATH_FOLDERS else -1
        return folder[offset:] if end < 0 else folder[offset:end]

    def _link(self, group: _Group) -> str:
        folder, title = self._entries[group.first]
        path = relative_to_home(f"{folder.replace(_STEP, '/')}/{INDEX}", self._home)
        return f"[{markdown_text(title) or markdown_text(group.name)}]({markdown_target(path)})"


def _pages(number: int) -> str:
    return "1 page" if number == 1 else f"{number:,} pages"
