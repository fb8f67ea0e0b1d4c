"""The processes of a browser, read from /proc; without /proc, none are found."""

import os
import signal
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def has_proc() -> bool:
    return (_PROC / "self" / "task").is_dir()


def find_marked(mark: str) -> int | None:
    """Our descendant that was started with ``mark`` among its arguments."""
    return next((pid for pid in tree(os.getpid()) if has_argument(pid, mark)), None)


def has_argument(pid: int, word: str) -> bool:
    """False for a process that has ended, even a zombie. Chromium's children rewrite theirs, separated by
    blanks."""
    return word.encode() in b" ".join(_arguments(pid)).split(b" ")


def tree(root: int) -> list[int]:
    """A process and all its descendants, parents first."""
    pids = [root]
    for pid in pids:  # grows while it is walked
        pids += children(pid)
    return pids


def private_bytes(root: int) -> int:
    """Resident memory of a tree without shared pages: a browser's processes map the same libraries."""
    return sum(_private(pid) for pid in tree(root))


def kill_tree(root: int) -> None:
    for pid in tree(root):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in (_PROC / str(pid) / "task").iterdir():  # any thread may have started one
            with suppress(OSError):
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def argument_of(pid: int, name: str) -> str | None:
    """The value of ``--name=value`` on a process's command line."""
    start = f"--{name}=".encode()
    values = (word[len(start) :] for word in _arguments(pid) if word.startswith(start))
    return next((os.fsdecode(value) for value in values), None)


def _arguments(pid: int) -> list[bytes]:
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def _private(pid: int) -> int:
    try:
        resident, shared = (_PROC / str(pid) / "statm").read_text().split()[1:3]
    except (OSError, ValueError):
        return 0
    return max(0, int(resident) - int(shared)) * _PAGE_BYTES
