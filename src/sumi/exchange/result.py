"""The result of an export: a file or a folder that is there whole or not at all.

It is made beside its place and takes it at the end. What a killed export left is found by the next one of the
same name, and removed. A folder is replaced only if everything in it is as an earlier export left it.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from sumi.errors import StateLocked, UsageError
from sumi.files.disk_errors import explained
from sumi.files.safe_files import SafeFolder
from sumi.state.folder import exchange, sync_folder

MARK: Final = ".sumi-export"  # lists the files of an exported folder, with their hashes
_HASH_DIGITS: Final = 32


@contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    if target.is_dir():
        raise UsageError(f"{target} is a folder, but this format writes one file: name it with --output")
    with explained(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = _beside(target)
        with open(beside, "w+b", opener=_create) as file:
            _lock(file.fileno(), target)
            file.truncate()
            try:
                yield file
                file.flush()
                os.fsync(file.fileno())
                os.replace(beside, target)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
        sync_folder(target.parent)


class NewTree:
    """The folder that is being written."""

    def __init__(self, folder: SafeFolder) -> None:
        self._folder = folder
        self.count = 0

    def write(self, path: str, data: bytes) -> None:
        self._folder.write_atomic(path, data)
        line = f"{sha256(data).hexdigest()[:_HASH_DIGITS]} {path}\n"
        self._folder.append(MARK, line.encode("utf-8", "surrogateescape"))
        self.count += 1

    @contextmanager
    def stream(self, path: str) -> Iterator[BinaryIO]:
        """Like ``write``, for content that is made piece by piece."""
        with self._folder.stream_atomic(path) as file:
            hashed = _Hashed(file)
            yield hashed  # type: ignore[misc]
        line = f"{hashed.digest.hexdigest()[:_HASH_DIGITS]} {path}\n"
        self._folder.append(MARK, line.encode("utf-8", "surrogateescape"))
        self.count += 1


class _Hashed:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self._file.write(data)


@contextmanager
def new_folder(target: Path) -> Iterator[NewTree]:
    refuse_foreign(target)
    with explained(target), _locked(target):
        beside = _beside(target)
        _clear(beside, target)
        folder = SafeFolder(beside)
        try:
            folder.append(MARK, b"")
            yield NewTree(folder)
            folder.sync()
        except BaseException:
            folder.close()
            shutil.rmtree(beside, ignore_errors=True)
            raise
        folder.close()
        _take_place(beside, target)


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    target.parent.mkdir(parents=True, exist_ok=True)
    path = target.with_name(f".{target.name}.sumi-lock")
    with open(path, "w+b", opener=_create) as file:
        _lock(file.fileno(), target)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def refuse_foreign(target: Path) -> None:
    """UsageError if the folder holds anything that an export did not write, or that was changed since."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError(f"{target} is not a folder: name another with --output")
    if not target.is_dir() or not any(target.iterdir()):
        return
    known = _listed(target)
    if known is None:
        raise UsageError(f"{target} was not made by sumi export: name another folder with --output")
    for path in _visible_files(target):
        name = path.relative_to(target).as_posix()
        if name not in known:
            raise UsageError(f"{path} was not made by sumi export: move it away, or name another --output")
        if known[name] != _hash(path):
            raise UsageError(f"{path} was changed since its export: move it away, or name another --output")


def _listed(target: Path) -> dict[str, str] | None:
    try:
        text = (target / MARK).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return None
    return {name: digest for digest, _, name in (line.partition(" ") for line in text.split("\n"))}


def _visible_files(target: Path) -> Iterator[Path]:
    """Without what other programs keep for themselves, as ``.obsidian`` and ``.git``."""
    for folder, folders, names in os.walk(target):
        if Path(folder) == target:
            folders[:] = [name for name in folders if not name.startswith(".")]
            names[:] = [name for name in names if not name.startswith(".")]
        yield from (Path(folder, name) for name in names)


def _hash(path: Path) -> str:
    if path.is_symlink():
        return ""
    with path.open("rb") as file:
        digest = sha256()
        while piece := file.read(1024 * 1024):
            digest.update(piece)
    return digest.hexdigest()[:_HASH_DIGITS]


def _take_place(beside: Path, target: Path) -> None:
    if not target.exists():
        os.rename(beside, target)
    else:
        _carry_hidden(target, beside)
        exchange(beside, target)
        shutil.rmtree(beside)
    sync_folder(target.parent)


def _clear(beside: Path, target: Path) -> None:
    """Remove what a killed export left, but not what it was carrying over."""
    if beside.exists():
        if target.is_dir():
            _carry_hidden(beside, target)
        shutil.rmtree(beside)


def _carry_hidden(source: Path, to: Path) -> None:
    for entry in source.iterdir():
        if entry.name.startswith(".") and entry.name != MARK and not (to / entry.name).exists():
            os.rename(entry, to / entry.name)


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.sumi-part")


def _create(path: str, flags: int) -> int:
    kept = flags & ~os.O_TRUNC  # another export may be writing it
    return os.open(path, kept | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)


def _lock(descriptor: int, target: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise StateLocked(f"{target} is being written by another export: wait for it") from None
