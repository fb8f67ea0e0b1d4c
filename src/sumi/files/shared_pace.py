"""One pace per host for all jobs of a user on this machine: a small file in the user's state folder.

A job that sends a request to a host holds the host's lock until the server has answered, and writes when the
next one may be sent, by whichever job. The kernel releases the locks of a process that dies, and a request
that may have been sent counts as sent. The file holds nothing that is worth keeping: an entry matters only
until its host is free.
"""

import fcntl
import os
import struct
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

BUCKETS: Final = 8192
_PER_BUCKET = 8
_ENTRY = struct.Struct("<Qd")  # a host's hash; when it is free, negative while a request is under way
_BUCKET_BYTES = _PER_BUCKET * _ENTRY.size
_HEADER = struct.Struct("<8s16s")
_MAGIC = b"SUMIPAC1"
_TABLE_AT = 64
# Locks of hosts are beyond the end of the file: a lock needs no bytes, and so no two hosts share one.
_LOCKS_AT = 1 << 40
_HASH_BITS = 61
_SHORTEST_WAIT = 0.01  # seconds
_LONGEST_POLL = 1.0
_MOST_REMEMBERED = 4096
_LONGEST_HOLD = 6 * 3600.0  # a time further ahead is from before a restart, or damage
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

# Locks of POSIX do not keep two jobs of one process apart: which of them holds a host.
_holders: dict[tuple[str, int], "SharedPace"] = {}


class _Found(NamedTuple):
    offset: int  # of the entry, or of one that may be overwritten
    free_at: float  # 0.0 without an entry
    under_way: bool


def default_file() -> Path:
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "sumi" / "pace"


class SharedPace:
    """For one job. Raises OSError where the file cannot be used: the job has its own pace then."""

    def __init__(self, file: Path, now: Callable[[], float] = time.monotonic) -> None:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._name = os.path.realpath(file)
        self._now = now  # of the machine, not of the process: every job must read the same
        self._counts: dict[int, int] = {}  # requests of ours under way, by host
        self._written: dict[int, float] = {}  # when the host is free, as we wrote it last
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._descriptor = os.open(file, flags, 0o600)
        try:
            self._prepare()
        except BaseException:
            os.close(self._descriptor)
            raise

    def claim(self, host: str, pause: float) -> float:
        """0.0: send the request now, and call ``answered`` or ``unsent`` afterwards; else the seconds to wait
        before another attempt. ``pause``: the seconds that this job leaves between requests to the host."""
        key = _hash(host)
        if not self._lock_host(key):
            # Past that time the host is slow to answer.
            return max(self._look(key).free_at - self._now(), min(pause / 2, _LONGEST_POLL))
        with self._bucket(key):
            found, now = self._find(key), self._now()
            # A process that died after sending did not record when it arrived: its pause is kept twice.
            orphaned = found.under_way and key not in self._counts
            free_at = found.free_at + pause if orphaned else found.free_at
            if self._written.get(key) == found.free_at:
                free_at = now  # nobody else asked since: what this job leases is due by its own pace
            if free_at <= now:
                self._write(found.offset, key, now + pause, under_way=True)
        if free_at > now:
            self._unlock_host(key)
            return max(min(free_at - now, _LONGEST_HOLD), _SHORTEST_WAIT)
        self._counts[key] = self._counts.get(key, 0) + 1
        return 0.0

    def answered(self, host: str, pause: float, since: float = 0.0) -> None:
        """The server had the request ``since`` seconds ago; ``pause`` counts from then."""
        self._end(_hash(host), self._now() - since + min(pause, _LONGEST_HOLD))

    def unsent(self, host: str) -> None:
        """Nothing was sent after all. Its pause stays, which is simpler and does no harm."""
        self._end(_hash(host), 0.0)

    def close(self) -> None:
        for key in tuple(self._counts):
            self._counts[key] = 1
            self._end(key, 0.0)
        os.close(self._descriptor)

    def _end(self, key: int, free_at: float) -> None:
        left = self._counts.get(key, 0) - 1
        if left < 0:
            return
        with self._bucket(key):
            found = self._find(key)
            self._write(found.offset, key, max(found.free_at, free_at), under_way=left > 0)
        if left:
            self._counts[key] = left
        else:
            del self._counts[key]
            self._unlock_host(key)

    # ── locks ──────────────────────────────────────────────────────────────────────────────────────────

    def _lock_host(self, key: int) -> bool:
        if key in self._counts:  # several requests at once to one host are this job's own choice
            return True
        if _holders.setdefault((self._name, key), self) is not self:
            return False
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _LOCKS_AT + key)
        except OSError:
            del _holders[self._name, key]
            return False
        return True

    def _unlock_host(self, key: int) -> None:
        if key not in self._counts:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, _LOCKS_AT + key)
            _holders.pop((self._name, key), None)

    def _bucket(self, key: int) -> "_Locked":
        """Held for microseconds, so it is waited for."""
        return _Locked(self._descriptor, self._offset_of(key), _BUCKET_BYTES)

    # ── entries ────────────────────────────────────────────────────────────────────────────────────────

    def _offset_of(self, key: int) -> int:
        return _TABLE_AT + key % BUCKETS * _BUCKET_BYTES

    def _look(self, key: int) -> _Found:
        with self._bucket(key):
            return self._find(key)

    def _find(self, key: int) -> _Found:
        """The host's entry; else the place of the one that was free for longest, which says nothing."""
        start, now = self._offset_of(key), self._now()
        data = os.pread(self._descriptor, _BUCKET_BYTES, start).ljust(_BUCKET_BYTES, b"\0")
        oldest, oldest_at = start, float("inf")
        for offset in range(0, _BUCKET_BYTES, _ENTRY.size):
            known, at = _ENTRY.unpack_from(data, offset)
            if known == key and abs(at) <= now + _LONGEST_HOLD:
                return _Found(start + offset, abs(at), at < 0)
            if abs(at) < oldest_at:
                oldest, oldest_at = start + offset, abs(at)
        return _Found(oldest, 0.0, False)

    def _write(self, offset: int, key: int, free_at: float, *, under_way: bool) -> None:
        os.pwrite(self._descriptor, _ENTRY.pack(key, -free_at if under_way else free_at), offset)
        self._written[key] = free_at
        if len(self._written) > _MOST_REMEMBERED:
            now = self._now()
            self._written = {known: at for known, at in self._written.items() if at > now}

    def _prepare(self) -> None:
        """Times count from the start of the machine: those from before it are removed."""
        with _Locked(self._descriptor, 0, _TABLE_AT):
            header = _HEADER.pack(_MAGIC, _boot())
            if os.pread(self._descriptor, _HEADER.size, 0) != header:
                os.ftruncate(self._descriptor, 0)
                os.pwrite(self._descriptor, header, 0)


class _Locked:
    """A range of the file, until the block ends."""

    def __init__(self, descriptor: int, start: int, length: int) -> None:
        self._place = (descriptor, length, start)

    def __enter__(self) -> None:
        descriptor, length, start = self._place
        fcntl.lockf(descriptor, fcntl.LOCK_EX, length, start)

    def __exit__(self, *_: object) -> None:
        descriptor, length, start = self._place
        fcntl.lockf(descriptor, fcntl.LOCK_UN, length, start)


def _hash(host: str) -> int:
    digest = blake2b(host.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> (64 - _HASH_BITS) | 1


def _boot() -> bytes:
    try:
        return bytes.fromhex(_BOOT_ID.read_text().strip().replace("-", ""))
    except (OSError, ValueError):  # not Linux
        return b"\0" * 16
