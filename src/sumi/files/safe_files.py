"""Files below one folder, and nowhere else.

Every step down from the root is relative to an open folder and refuses symbolic links. So neither a name from
the web nor a link planted in the output can redirect a write, not even one swapped in at the same moment. A
file is written beside its place and renamed: a reader, or a crash, finds the old or the new one, never half.

Not for use from several threads at once, except ``sync``.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import resource
import stat
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from sumi.errors import NotWritable, OutputRefused
from sumi.files.disk_errors import explained
from sumi.files.growing_file import write_all

# Every page has its own folder: this many parents stay open, but at most one in eight of the descriptors that
# a process may have, so that a tight limit leaves enough for connections.
OPEN_FOLDERS = 512
DESCRIPTOR_SHARE = 8
# Names of folders that exist: asking the system to create one again costs as much as writing a page. Under
# 1 MB; cleared when full.
KNOWN_FOLDERS = 4096

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a planted FIFO would block.
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_USUAL_MODE = 0o644
_NOT_INSIDE = re.compile(r"(?:^|/)\.{0,2}(?:/|\Z)|\0")


class _Growing:
    """A file that is open for appending."""

    __slots__ = ("descriptor", "size")

    def __init__(self, descriptor: int, size: int) -> None:
        self.descriptor = descriptor
        self.size = size


class SafeFolder:
    """All paths are relative, with ``/``."""

    def __init__(self, root: Path, writer: str = "") -> None:
        self._path = root
        self._writer = writer  # processes that share a folder have different names
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise NotWritable(f"cannot use {root} as the output folder: {error.strerror}") from error
        self._folders: OrderedDict[str, int] = OrderedDict()
        self._most_folders = _affordable_folders()
        self._growing: dict[str, _Growing] = {}
        self._known: set[str] = set()
        self._just_made: str | None = None  # a folder that is still empty
        self._syncfs = _find_syncfs()
        self._unsynced: set[str] = set()  # stays empty where there is syncfs

    def write_atomic(self, rel_path: str, data: bytes, mode: int = 0o644) -> None:
        """Write ``data``, completely or not at all, and create the folders it needs."""
        with self._replacing(rel_path, mode) as descriptor:
            write_all(descriptor, data)

    def link_atomic(self, rel_path: str, existing: str) -> bool:
        """Hard-link another file; False if the disk cannot do that."""
        (folder, name), (other_folder, other_name) = self._located(rel_path), self._located(existing)
        temporary = f".{name}.tmp"
        with self._explained(rel_path):
            # A copy of the descriptor: the folder stays open only until the next call.
            other = os.dup(self._folder(other_folder, create=False))
            try:
                place = self._folder(folder, create=True)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=place)
                os.link(other_name, temporary, src_dir_fd=other, dst_dir_fd=place, follow_symlinks=False)
            except OSError:
                return False
            finally:
                os.close(other)
            os.replace(temporary, name, src_dir_fd=place, dst_dir_fd=place)
        self._written(rel_path)
        return True

    @contextlib.contextmanager
    def stream_atomic(self, rel_path: str, mode: int = 0o644) -> Iterator[BinaryIO]:
        """Like ``write_atomic``, for content made piece by piece. Nothing is replaced if the block raises."""
        with self._replacing(rel_path, mode) as descriptor, open(descriptor, "wb", closefd=False) as file:
            yield file

    def append(self, rel_path: str, data: bytes) -> int:
        """Append to a file, which stays open; returns the offset at which the data begins."""
        growing = self._growing.get(rel_path)
        with self._explained(rel_path):
            if growing is None:
                growing = self._growing[rel_path] = self._open_to_grow(rel_path)
            try:
                write_all(growing.descriptor, data)
            except OSError:  # a part of it may have been written: its size must be read again
                self.stop_appending(rel_path)
                raise
        start = growing.size
        growing.size += len(data)
        self._written(rel_path)
        return start

    def stop_appending(self, rel_path: str) -> None:
        """Close the file: nothing will be appended for a while, or it is about to be replaced."""
        growing = self._growing.pop(rel_path, None)
        if growing is not None:
            os.close(growing.descriptor)

    def make_folder_of(self, rel_path: str) -> bool:
        """Whether it had to be created, so that there is no such file."""
        folder, _ = self._located(rel_path)
        with self._explained(rel_path):
            self._folder(folder, create=True)
        return folder == self._just_made

    def read_bytes(self, rel_path: str, most: int = -1) -> bytes | None:
        """The file's content, or its first ``most`` bytes; None if there is none."""
        with self._explained(rel_path):
            descriptor = self._open_to_read(rel_path)
            if descriptor is None:
                return None
            with open(descriptor, "rb") as file:
                return file.read(most)

    def read_range(self, rel_path: str, start: int, length: int) -> bytes | None:
        """At most ``length`` bytes from ``start``; None if there is no file."""
        with self._explained(rel_path):
            descriptor = self._open_to_read(rel_path)
            if descriptor is None:
                return None
            try:
                return os.pread(descriptor, length, start)
            finally:
                os.close(descriptor)

    def status(self, rel_path: str) -> os.stat_result | None:
        """None if there is no such file. Looked up in one step, so it may follow a link to a folder: no
        write may depend on it."""
        self._located(rel_path)
        with self._explained(rel_path):
            try:
                found = os.stat(rel_path, dir_fd=self._root, follow_symlinks=False)
            except FileNotFoundError:
                return None
            return found if stat.S_ISREG(found.st_mode) else None

    def exists(self, rel_path: str) -> bool:
        folder, name = self._located(rel_path)
        with self._explained(rel_path):
            try:
                os.stat(name, dir_fd=self._folder(folder, create=False), follow_symlinks=False)
            except FileNotFoundError:
                return False
            return True

    def is_folder(self, rel_path: str) -> bool:
        """A symbolic link to one does not count."""
        folder, name = self._located(rel_path)
        with self._explained(rel_path):
            try:
                status = os.stat(name, dir_fd=self._folder(folder, create=False), follow_symlinks=False)
            except FileNotFoundError:
                return False
            return stat.S_ISDIR(status.st_mode)

    def names(self, rel_folder: str) -> list[str]:
        """The names in a folder; none if there is no folder."""
        with self._explained(rel_folder):
            try:
                return os.listdir(self._folder(rel_folder, create=False))
            except FileNotFoundError:
                return []

    def remove(self, rel_path: str) -> None:
        """Remove a file if it exists."""
        folder, name = self._located(rel_path)
        self.stop_appending(rel_path)
        with self._explained(rel_path), contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._folder(folder, create=False))

    def sync(self) -> None:
        """Everything written so far survives a power cut from now on. Slow: call it in a thread."""
        written, self._unsynced = self._unsynced, set()
        with self._explained(""):
            if self._syncfs is not None:
                self._syncfs(self._root)
                return
            for rel_path in sorted(written):
                self._sync_file(rel_path)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Locks out other processes that call this, so the block should be short."""
        with self._explained(""):
            fcntl.flock(self._root, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._root, fcntl.LOCK_UN)

    @property
    def syncs_at_once(self) -> bool:
        """Whether one call makes everything durable, or each file needs its own."""
        return self._syncfs is not None

    def close(self) -> None:
        for rel_path in list(self._growing):
            self.stop_appending(rel_path)
        self._forget_folders()
        os.close(self._root)

    @contextlib.contextmanager
    def _replacing(self, rel_path: str, mode: int) -> Iterator[int]:
        folder, name = self._located(rel_path)
        self.stop_appending(rel_path)
        # A fixed name: the next run replaces what a killed one left. It starts with a dot, which no page
        # folder does.
        temporary = f".{name}.{self._writer}.tmp" if self._writer else f".{name}.tmp"
        with self._explained(rel_path):
            descriptor = self._create(folder, name, temporary, mode)
            try:
                try:
                    yield descriptor
                finally:
                    os.close(descriptor)
                # Opened again: while content was streamed, the folder may have left the cache.
                place = self._folder(folder, create=False)
                os.replace(temporary, name, src_dir_fd=place, dst_dir_fd=place)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=self._folder(folder, create=False))
                raise
        self._written(rel_path)

    def _create(self, folder: str, name: str, temporary: str, mode: int) -> int:
        try:
            return self._create_beside(folder, name, temporary, mode)
        except FileNotFoundError:  # a folder that we hold open was removed
            self._forget_folders()
            return self._create_beside(folder, name, temporary, mode)

    def _create_beside(self, folder: str, name: str, temporary: str, mode: int) -> int:
        place = self._folder(folder, create=True)
        if folder != self._just_made:
            _refuse_unless_regular_or_absent(name, place)
        self._just_made = None
        return _create_file(place, temporary, mode)

    def _open_to_read(self, rel_path: str) -> int | None:
        folder, name = self._located(rel_path)
        try:
            descriptor = os.open(name, _READ, dir_fd=self._folder(folder, create=False))
        except FileNotFoundError:
            return None
        _refuse_unless_regular(descriptor)
        return descriptor

    def _open_to_grow(self, rel_path: str) -> "_Growing":
        folder, name = self._located(rel_path)
        try:
            descriptor = os.open(name, _APPEND, 0o644, dir_fd=self._folder(folder, create=True))
        except FileNotFoundError:
            self._forget_folders()
            descriptor = os.open(name, _APPEND, 0o644, dir_fd=self._folder(folder, create=True))
        return _Growing(descriptor, _refuse_unless_regular(descriptor).st_size)

    def _folder(self, folder: str, *, create: bool) -> int:
        """An open folder, valid until the next call."""
        known = folder
        while known and known not in self._folders:
            known = known.rpartition("/")[0]
        if known:
            self._folders.move_to_end(known)
        place = self._folders[known] if known else self._root
        while known != folder:
            name = folder[len(known) :].removeprefix("/").partition("/")[0]
            known = f"{known}/{name}" if known else name
            place = self._step_down(place, name, known, create=create)
            self._remember(known, place)
        return place

    def _step_down(self, above: int, name: str, folder: str, *, create: bool) -> int:
        if create and folder not in self._known:
            if len(self._known) >= KNOWN_FOLDERS:
                self._known.clear()
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o777, dir_fd=above)
                self._just_made = folder
            self._known.add(folder)
        return os.open(name, _FOLDER, dir_fd=above)

    def _remember(self, folder: str, place: int) -> None:
        self._folders[folder] = place
        if len(self._folders) > self._most_folders:
            os.close(self._folders.popitem(last=False)[1])

    def _forget_folders(self) -> None:
        self._known.clear()
        self._just_made = None
        while self._folders:
            os.close(self._folders.popitem()[1])

    def _located(self, rel_path: str) -> tuple[str, str]:
        folder, _, name = rel_path.rpartition("/")
        if _NOT_INSIDE.search(rel_path):
            raise OutputRefused(f"{rel_path!r} is not a path inside the output folder {self._path}")
        return folder, name

    def _written(self, rel_path: str) -> None:
        if self._syncfs is None:
            self._unsynced.add(rel_path)

    def _sync_file(self, rel_path: str) -> None:
        """Walks from the root without the cache of folders, which belongs to another thread."""
        opened = [os.dup(self._root)]
        try:
            folder, name = self._located(rel_path)
            for step in filter(None, folder.split("/")):
                opened.append(os.open(step, _FOLDER, dir_fd=opened[-1]))
            opened.append(os.open(name, _READ, dir_fd=opened[-1]))
            for descriptor in reversed(opened):
                os.fsync(descriptor)
        except FileNotFoundError:
            return  # removed since
        finally:
            for descriptor in opened:
                os.close(descriptor)

    def _explained(self, rel_path: str) -> explained:
        return explained(self._path, rel_path)


def _affordable_folders() -> int:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return OPEN_FOLDERS if limit < 0 else max(1, min(OPEN_FOLDERS, limit // DESCRIPTOR_SHARE))


def _create_file(folder: int, temporary: str, mode: int) -> int:
    try:
        descriptor = os.open(temporary, _NEW_FILE, mode, dir_fd=folder)
    except FileExistsError:
        os.unlink(temporary, dir_fd=folder)
        descriptor = os.open(temporary, _NEW_FILE, mode, dir_fd=folder)
    if mode != _USUAL_MODE:  # chosen on purpose, so the umask must not change it
        os.fchmod(descriptor, mode)
    return descriptor


def _refuse_unless_regular_or_absent(name: str, folder: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        _refuse_kind(os.stat(name, dir_fd=folder, follow_symlinks=False))


def _refuse_unless_regular(descriptor: int) -> os.stat_result:
    """Closes it if it is not a regular file."""
    try:
        status = os.fstat(descriptor)
        _refuse_kind(status)
    except OSError:
        os.close(descriptor)
        raise
    return status


def _refuse_kind(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.ELOOP, "not a regular file")


def _find_syncfs() -> Callable[[int], None] | None:
    """Linux can flush a whole file system with one call, which is far cheaper than an fsync per page."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "syncfs"):
        return None

    def syncfs(descriptor: int) -> None:
        if libc.syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    return syncfs
