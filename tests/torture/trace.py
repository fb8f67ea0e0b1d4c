"""What strace saw of a run: every call about its folder, and which of them changed something there."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Everything by which a change reaches the disk. A call that only one kernel has is counted as absent.
SYNCS = ("fsync", "fdatasync", "syncfs", "msync")
WRITES = ("write", "pwrite64", "ftruncate")
NAMES = ("rename", "renameat", "renameat2", "unlink", "unlinkat", "link", "linkat")
MAKES = ("mkdir", "mkdirat", "openat")
CHANGES = (*WRITES, *NAMES, *MAKES)
DURABLE_CALLS = (*SYNCS, *CHANGES)

PAGE = 4096  # of both databases

_CALL = re.compile(r"^(\d+) +(\w+)\((.*)$")
_PLACE = re.compile(r"<(/[^>]+)>|\"(/[^\"]+)\"")
_QUOTED = re.compile(r"\"([^\"]*)\"")
_FAILED = re.compile(r"\) += -1 ")
_RECORD = re.compile(r'\{\\"type\\":\\"(\w+)')
_LENGTH = re.compile(r", (\d+), \d+\) += ")
_OWN_NAME = re.compile(r"[0-9a-f]{8,}|\d+")


@dataclass(frozen=True)
class Moment:
    """The ``when``-th such call of a thread. Two moments are alike if the same is done to a file of the same
    kind after the same had been done before: only more or fewer pages are there already."""

    call: str
    when: int
    kind: str
    after: str

    @property
    def likeness(self) -> tuple[str, str, str]:
        return self.call, self.kind, self.after


@dataclass(frozen=True)
class Traced:
    """What a run asked of the disk, and the paths that it was about."""

    moments: tuple[Moment, ...]
    paths: tuple[str, ...]

    def count(self, call: str) -> int:
        """How often the busiest thread made it."""
        return max((moment.when for moment in self.moments if moment.call == call), default=0)


def read_trace(log: str, output: Path) -> Traced:
    """Syncs and changes. Others only count: opening a folder to read it, making one that is there."""
    moments, after = list[Moment](), "nothing"
    paths: dict[str, None] = {}
    for call, when, rest, inside in _calls_about(output, log):
        paths.update(dict.fromkeys(place.replace(str(output), "{}") for place in inside))
        if call in SYNCS:
            moments.append(Moment(call, when, _kind(call, rest), after))
        elif _changes(call, rest):
            kind = _kind(call, rest)
            moments.append(Moment(call, when, kind, after))
            after = f"{call} {kind}"
    return Traced(tuple(moments), tuple(paths))


def _calls_about(output: Path, log: str) -> Iterator[tuple[str, int, str, list[str]]]:
    numbers: Counter[tuple[str, str]] = Counter()
    for line in log.splitlines():
        match = _CALL.match(line)
        if match is None:
            continue
        thread, call, rest = match.groups()
        places = [one or other for one, other in _PLACE.findall(rest)]
        inside = [place for place in places if Path(place).is_relative_to(output)]
        if inside:
            numbers[call, thread] += 1
            yield call, numbers[call, thread], rest, inside


def _changes(call: str, rest: str) -> bool:
    return not _FAILED.search(rest) and (call != "openat" or "O_CREAT" in rest)


def _kind(call: str, rest: str) -> str:
    """The file's name without what is particular to a page, and what is written to it."""
    if call in (*NAMES, *MAKES):
        name = _QUOTED.findall(rest)[-1].rpartition("/")[2]
    else:
        name = rest.partition(">")[0].rpartition("/")[2]
    if call.startswith("mkdir") and not name.startswith((".", "_")):
        return "a folder of pages"
    return f"{_OWN_NAME.sub('#', name)}{_content(call, rest)}"


def _content(call: str, rest: str) -> str:
    record = _RECORD.search(rest) if call == "write" else None
    length = _LENGTH.search(rest) if call == "pwrite64" else None
    if length is not None:
        pages = int(length[1]) / PAGE
        return " part of a page" if pages < 1 else " a page" if pages == 1 else " pages"
    return f" {record[1]}" if record is not None else ""
