"""Starting, watching and killing Chromium, and the features that are switched off in it."""

import asyncio
import fcntl
import logging
import os
import secrets
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path

from playwright.async_api import Browser, Error, Playwright, async_playwright

# What calls to a browser raise: Playwright's errors, and those of event loops for a dead driver.
FAILURES = (Error, OSError, RuntimeError)  # the last is uvloop's, for a closed pipe
_DEATH_WORDS = ("crash", "has been closed", "connection closed", "disconnected", "handler is closed")


def first_line_of(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def means_browser_died(error: BaseException) -> bool:
    said = str(error).lower()
    return any(word in said for word in _DEATH_WORDS)


_PREFIX = "sumi-browser-"
_LOCK = "lock"


class Scratch:
    """A folder for the temporary files of browsers, removed with the run; one that a killed run left is
    removed by the next.

    It belongs to the process that holds the lock on the file in it; the kernel releases the lock of a dead
    one.
    """

    def __init__(self) -> None:
        clear_abandoned()
        self.path = tempfile.mkdtemp(prefix=_PREFIX)
        # Renamed once it is locked: a folder without a lock file does not count as abandoned.
        draft = Path(self.path, "lock.new")
        self._lock = os.open(draft, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        draft.rename(Path(self.path, _LOCK))

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def clear_abandoned() -> None:
    """Removes folders of this user only, and follows no links."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.lstat().st_uid == os.getuid() and not folder.is_symlink() and _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(lock)
    return True


_START_SECONDS = 30.0
_ANSWER_SECONDS = 5.0  # for a trivial call to the driver
_CLOSE_SECONDS = 5.0
_DEAD_DRIVER_WORDS = (
    "Connection closed while reading from the driver",
    "Connection.send_message_to_server",
)
_FLAGS = (
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-sync",
    "--disable-file-system",
    "--disable-notifications",
    "--disable-speech-api",
    "--disable-webgl",
    "--disable-3d-apis",
    "--mute-audio",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy",
    "--js-flags=--max-old-space-size=512",
    # Three processes and a sixth of the memory less per browser. A crash in one of them now costs the page
    # that the browser is at, as a crash of the browser does. This replaces Playwright's own list of features
    # to enable, which concerns screenshots and accounts. Features must not be disabled in the same way: that
    # would replace Playwright's list of those, which matters.
    "--in-process-gpu",
    "--enable-features=NetworkServiceInProcess2",
)


class Chromium:
    """One browser with all its processes and its profile."""

    def __init__(self, browser: Browser, pid: int | None, mark: str) -> None:
        self.browser = browser
        self._pid = pid
        self._mark = mark
        self._profile = None if pid is None else argument_of(pid, "user-data-dir")
        # Without them the browser survives, and waits endlessly for a process for the next page.
        self._zygotes = () if pid is None else tuple(filter(_is_zygote, children(pid)))
        self._killed = False

    @property
    def is_running(self) -> bool:
        """Checks the processes itself: the driver may notice a death late, or never."""
        if self._killed or not self.browser.is_connected():
            return False
        return self._pid is None or (self._is_there() and all(map(_is_zygote, self._zygotes)))

    @property
    def memory(self) -> int:
        return 0 if self._pid is None else private_bytes(self._pid)

    def kill(self) -> None:
        """Kill it at once."""
        self._killed = True
        if self._pid is not None and self._is_there():
            kill_tree(self._pid)

    async def aclose(self) -> None:
        """Close it cleanly if possible, otherwise kill it."""
        if self.is_running:
            with suppress(*FAILURES, TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self.browser.close()
        self.kill()
        if self._profile is not None:  # a browser that was killed leaves it behind
            await asyncio.to_thread(shutil.rmtree, self._profile, ignore_errors=True)

    def _is_there(self) -> bool:
        """The pid may have been reused."""
        return self._pid is not None and has_argument(self._pid, self._mark)


class Launcher:
    """Starts browsers through Playwright's driver, one process for all, which is restarted if it dies.

    ``key_hash``: of the proxy's key, the only one that browsers trust without a valid certificate.
    """

    def __init__(self, path: str, key_hash: str) -> None:
        self._path = path
        self._believed = f"--ignore-certificate-errors-spki-list={key_hash}"
        self._scratch: Scratch | None = None
        self._playwright: Playwright | None = None
        self._starting = asyncio.Lock()

    async def launch(self, proxy_url: str) -> Chromium | str:
        """A browser that uses the proxy for everything, or why it did not start."""
        mark = f"--sumi-browser={secrets.token_hex(8)}"
        async with self._starting:
            try:
                async with asyncio.timeout(_START_SECONDS):
                    return await self._launched(proxy_url, mark)
            except TimeoutError:
                why = f"it did not start within {_START_SECONDS:g} s"
            except FAILURES as error:
                why = _last_words(str(error))
            half_started = find_marked(mark)
            if half_started is not None:
                kill_tree(half_started)
            if not await self._driver_answers():  # if it does, it has other browsers to serve
                await self._stop()
            return why

    async def aclose(self) -> None:
        async with self._starting:
            await self._stop()
            if self._scratch is not None:
                await asyncio.to_thread(self._scratch.remove)

    async def _launched(self, proxy_url: str, mark: str) -> Chromium | str:
        if self._playwright is None:
            self._playwright = await _started_driver()
        if self._scratch is None:
            self._scratch = await asyncio.to_thread(Scratch)
        browser = await self._playwright.chromium.launch(
            executable_path=self._path,
            args=[*_FLAGS, self._believed, mark],
            proxy={"server": proxy_url},
            env={**os.environ, "TMPDIR": self._scratch.path},
            # Chromium refuses to run its sandbox as root.
            chromium_sandbox=os.geteuid() != 0,
            handle_sigint=False,  # the run decides when it ends
            handle_sigterm=False,
            handle_sighup=False,
        )
        pid = find_marked(mark)
        if pid is None and has_proc():
            return "it ended as soon as it had started"
        return Chromium(browser, pid, mark)

    async def _driver_answers(self) -> bool:
        if self._playwright is None:
            return False
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await (await self._playwright.request.new_context()).dispose()
        except (*FAILURES, TimeoutError):
            return False
        return True

    async def _stop(self) -> None:
        if self._playwright is None:
            return
        playwright, self._playwright = self._playwright, None
        with suppress(*FAILURES, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await playwright.stop()


async def _started_driver() -> Playwright:
    logging.getLogger("asyncio").addFilter(_is_not_about_dead_driver)
    try:
        return await async_playwright().start()
    except Exception as error:  # Playwright has no class for a driver that dies during the start
        raise Error(str(error)) from error


def _is_not_about_dead_driver(record: logging.LogRecord) -> bool:
    """Playwright reports a dead driver also in futures that nobody awaits. Callers get the error anyway."""
    said = record.getMessage()
    return not any(word in said for word in _DEAD_DRIVER_WORDS)


def _is_zygote(pid: int) -> bool:
    """A zygote: the process from which Chromium on Linux forks its renderers. Those look like it at first,
    but are not children of the browser."""
    return has_argument(pid, "--type=zygote")


def _last_words(text: str) -> str:
    """The most telling line of the browser's error output."""
    lines = [line.strip(" -") for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "FATAL" in line or "ERROR" in line or "exitCode" in line]
    return (telling or lines or ["no reason given"])[0][:300]


# The processes of a browser, read from /proc; without /proc, none are found.
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
