"""Every write to a database file and every sync of it, in order; and the file as a power cut may leave it.

Between two syncs the system may have written any of the pages, in any order, whole or in part. What was
written before a sync is there for sure.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

CALLS = ("lseek", "write", "writev", "pwrite64", "pwritev", "ftruncate", "fsync", "fdatasync", "unlink")
# Each thread has a log of its own, so that no call is torn apart by another thread's.
STRACE_OPTIONS = ("-ff", "-ttt", "-y", "-xx", "-s", "1048576")
SECTOR = 512

_CALL = re.compile(r"([\d.]+) (\w+)\((.*)\) += (-?\d+)")
_PATH = re.compile(r"[<\"]((?:\\x[0-9a-f]{2})+)[>\"]")
_DATA = re.compile(r"\"((?:\\x[0-9a-f]{2})*)\"")
_LAST_NUMBER = re.compile(r", (\d+)\Z")


@dataclass(frozen=True)
class Write:
    path: Path
    offset: int
    data: bytes


@dataclass(frozen=True)
class Cut:
    """Truncated to a length; to nothing at all when the file is removed."""

    path: Path
    length: int


@dataclass(frozen=True)
class Sync:
    path: Path


Event = Write | Cut | Sync
# What becomes of a sector's worth of bytes that was never synced; None if what was there before stays.
Harm = Callable[[bytes, random.Random], bytes | None]


def lost(_data: bytes, _chance: random.Random) -> bytes | None:
    return None


def zeroed(data: bytes, _chance: random.Random) -> bytes | None:
    return bytes(len(data))


def garbled(data: bytes, chance: random.Random) -> bytes | None:
    return chance.randbytes(len(data))


def kept(data: bytes, _chance: random.Random) -> bytes | None:
    return data


def mixed(data: bytes, chance: random.Random) -> bytes | None:
    return chance.choice((lost, kept, kept, zeroed))(data, chance)


HARMS: tuple[Harm, ...] = (lost, zeroed, garbled, kept, mixed)


def read_log(logs: Iterable[Path]) -> list[Event]:
    """What strace wrote with the options above."""
    lines = (line for log in logs for line in log.read_text().splitlines())
    calls = [match for line in lines if (match := _CALL.match(line))]
    calls.sort(key=lambda call: float(call[1]))
    return list(_events(calls))


def _events(calls: Sequence[re.Match[str]]) -> Iterator[Event]:
    positions: dict[str, int] = {}  # of descriptors
    for _, call, arguments, result in (match.groups() for match in calls):
        place = _PATH.search(arguments)
        if place is None or int(result) < 0:
            continue
        path, descriptor = Path(_bytes(place[1]).decode()), arguments.partition("<")[0]
        if call == "lseek":
            positions[descriptor] = int(result)
        elif call in ("fsync", "fdatasync"):
            yield Sync(path)
        elif call in ("ftruncate", "unlink"):
            yield Cut(path, _last_number(arguments) if call == "ftruncate" else 0)
        else:
            data = b"".join(map(_bytes, _DATA.findall(arguments)))[: int(result)]
            at_place = call.startswith("pwrite")
            offset = _last_number(arguments) if at_place else positions.get(descriptor, 0)
            if not at_place:
                positions[descriptor] = offset + len(data)
            yield Write(path, offset, data)


def _bytes(escaped: str) -> bytes:
    return bytes.fromhex(escaped.replace("\\x", ""))


def _last_number(arguments: str) -> int:
    number = _LAST_NUMBER.search(arguments)
    assert number is not None, arguments[-100:]
    return int(number[1])


def after_power_cut(events: Sequence[Event], harm: Harm, chance: random.Random) -> dict[Path, bytes]:
    """The files after these events and no others; what none of their syncs covers is harmed."""
    last_sync = {event.path: number for number, event in enumerate(events) if isinstance(event, Sync)}
    files: dict[Path, bytearray] = {}
    for number, event in enumerate(events):
        file = files.setdefault(event.path, bytearray())
        if isinstance(event, Cut):
            _set_length(file, event.length)
        elif isinstance(event, Write):
            is_safe = number < last_sync.get(event.path, -1)
            _put(file, event.offset, event.data, kept if is_safe else harm, chance)
    return {path: bytes(file) for path, file in files.items()}


def _put(file: bytearray, offset: int, data: bytes, harm: Harm, chance: random.Random) -> None:
    """Sector by sector. What is smaller than one arrives or does not: no disk leaves half a sector."""
    if len(data) < SECTOR and harm is not kept:
        harm = chance.choice((kept, lost))
    start = 0
    while start < len(data):
        end = min(len(data), start + SECTOR - (offset + start) % SECTOR)
        piece = harm(data[start:end], chance)
        if piece is not None:
            _set_length(file, max(len(file), offset + end))
            file[offset + start : offset + end] = piece
        start = end


def _set_length(file: bytearray, length: int) -> None:
    if length < len(file):
        del file[length:]
    else:
        file.extend(bytes(length - len(file)))
