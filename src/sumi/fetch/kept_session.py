"""Sessions that a person has logged in to in a browser, kept in files of their own for the runs of some days.

A file has only what belongs to the hosts that the session is for: the cookies of a sign-in service on the way
are dropped. Only its owner can read it, and it is in no archive, state or export.
"""

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from sumi.errors import NotWritable, UsageError
from sumi.fetch.cookie_file import BrowserCookie
from sumi.fetch.target import Target, parse_target

_PRIVATE: Final = 0o600
_SUFFIX: Final = ".json"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,253}")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_MOST_BYTES: Final = 16 * 1024 * 1024


class KeptSession(msgspec.Struct, frozen=True, kw_only=True):
    url: str  # where the person logged in
    created: float
    expires: float
    hosts: tuple[str, ...]
    cookies: tuple[BrowserCookie, ...] = ()
    storage: dict[str, tuple[tuple[str, str], ...]] = {}  # local storage, by origin such as https://a.org
    ended: bool = False  # a run has found that it is over

    def why_unusable(self, now: float) -> str | None:
        if self.ended:
            return "has ended"
        return "has expired" if self.expires <= now else None


def sessions_folder() -> Path:
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "sumi" / "sessions"


def session_name(url: str) -> str:
    """The host, and the port if it is not the usual one."""
    target = _target(url)
    scheme, host, port = target.origin
    plain = re.sub(r"[^a-z0-9.-]", "_", host.lower().strip("[]"))
    return plain if _DEFAULT_PORTS[scheme] == port else f"{plain}_{port}"


def session_file(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a session; sumi session list shows them")
    return sessions_folder() / f"{name}{_SUFFIX}"


def hosts_of(urls: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_target(url).host for url in urls))


def load_session(file: Path) -> KeptSession | None:
    """None if there is none. Raises UsageError for one that cannot be trusted."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    with open(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if status.st_mode & 0o077 or status.st_uid != os.geteuid():
            raise UsageError(f"other users can read or own {file}: remove it, and log in again")
        content = stream.read(_MOST_BYTES)
    try:
        session = msgspec.json.decode(content, type=KeptSession)
    except msgspec.MsgspecError:
        session = None
    if session is None or not all(cookie.can_be_sent for cookie in session.cookies):
        raise UsageError(f"{file} is not a session of Sumi: remove it, and log in again")
    return session


def save_session(file: Path, session: KeptSession) -> None:
    """Completely or not at all; never readable by others, not even for a moment."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileNotFoundError):
            draft.unlink()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(draft, flags, _PRIVATE), "wb") as stream:
            os.fchmod(stream.fileno(), _PRIVATE)
            stream.write(msgspec.json.encode(session))
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(file)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise NotWritable(f"cannot write {file}: {error.strerror}") from error


def mark_ended(file: Path) -> None:
    """A run has found that it is over, so that the next one does not try."""
    session = load_session(file)
    if session is not None:
        save_session(file, msgspec.structs.replace(session, ended=True))


def kept_sessions() -> Iterator[tuple[str, KeptSession]]:
    """By name; a file that is none is passed over."""
    for file in sorted(sessions_folder().glob(f"*{_SUFFIX}")):
        with suppress(UsageError):
            session = load_session(file)
            if session is not None:
                yield file.name.removesuffix(_SUFFIX), session


def forget_session(name: str) -> bool:
    file = session_file(name)
    try:
        file.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise NotWritable(f"cannot remove {file}: {error.strerror}") from error
    return True


def usable_session(login: str, sites: Sequence[str]) -> KeptSession | str:
    """The session of a sign-in page for these sites, or why a person must log in (again)."""
    session = load_session(session_file(session_name(login)))
    if session is None:
        return "nobody has logged in"
    why = session.why_unusable(time.time())
    if why is not None:
        return f"the session {why}"
    hosts = hosts_of(sites)
    if hosts and not any(host in session.hosts for host in hosts):
        return f"the session is not for {hosts[0]}"
    return session


def _target(url: str) -> Target:
    target = parse_target(url)
    if target is None:
        raise UsageError(f"{url} has no host to connect to")
    return target
