"""Browsers: how they start, what is switched off in them, and how they end if they do not listen."""

import asyncio
import fcntl
import logging
import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from playwright.async_api import Browser, Error, Playwright, async_playwright

from sumi.fetch.browser.process_tree import (
    argument_of,
    children,
    find_marked,
    has_argument,
    kill_tree,
    private_bytes,
    processes_are_seen,
)

# What calls to a browser raise: Playwright's errors, and what event loops say of a driver that has died.
FAILURES = (Error, OSError, RuntimeError)  # the last is uvloop's, for a pipe that nobody reads any more
_OF_THE_DEAD = ("crash", "has been closed", "connection closed", "disconnected", "handler is closed")


def words_of(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def tells_of_a_death(error: BaseException) -> bool:
    said = str(error).lower()
    return any(word in said for word in _OF_THE_DEAD)


_PREFIX = "sumi-browser-"
_LOCK = "lock"


class Scratch:
    """A folder for what browsers need while they run. It goes with the run; one that a killed run left, with
    the next.

    It belongs to whoever holds the lock on the file in it, and the kernel takes a lock back when its holder
    dies.
    """

    def __init__(self) -> None:
        clear_abandoned()
        self.path = tempfile.mkdtemp(prefix=_PREFIX)
        # Named only once it is locked: a folder without that name is not taken for an abandoned one.
        draft = Path(self.path, "lock.new")
        self._lock = os.open(draft, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        draft.rename(Path(self.path, _LOCK))

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def clear_abandoned() -> None:
    """Of this user only: nobody else's folders are touched, nor followed where links lead."""
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
_ANSWER_SECONDS = 5.0  # for a driver that is asked next to nothing
_CLOSE_SECONDS = 5.0
_NEWS_OF_A_DEAD_DRIVER = (
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
    # Three processes less for each browser, a sixth of its memory. That one of them fails costs the page that
    # the browser is at, and so it does when the browser itself fails. Playwright's own list of features to
    # enable gives way to this one: it concerns screenshots and accounts. To disable any in the same way would
    # undo its list of those, on which much depends.
    "--in-process-gpu",
    "--enable-features=NetworkServiceInProcess2",
)


class Chromium:
    """One browser with all its processes, and a profile that goes with it."""

    def __init__(self, browser: Browser, pid: int | None, mark: str) -> None:
        self.browser = browser
        self._pid = pid
        self._mark = mark
        self._profile = None if pid is None else argument_of(pid, "user-data-dir")
        # Without them it goes on, and waits for ever for a process to show the next page in.
        self._zygotes = () if pid is None else tuple(filter(_is_zygote, children(pid)))
        self._killed = False

    @property
    def is_running(self) -> bool:
        """With all that it needs. Looks for itself: the driver may hear of a death late, or never."""
        if self._killed or not self.browser.is_connected():
            return False
        return self._pid is None or (self._is_there() and all(map(_is_zygote, self._zygotes)))

    @property
    def memory(self) -> int:
        return 0 if self._pid is None else private_bytes(self._pid)

    def kill(self) -> None:
        """At once, whatever it is doing."""
        self._killed = True
        if self._pid is not None and self._is_there():
            kill_tree(self._pid)

    async def aclose(self) -> None:
        """In good order if it will, otherwise not."""
        if self.is_running:
            with suppress(*FAILURES, TimeoutError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await self.browser.close()
        self.kill()
        if self._profile is not None:  # a browser that was killed leaves it behind
            await asyncio.to_thread(shutil.rmtree, self._profile, ignore_errors=True)

    def _is_there(self) -> bool:
        """Its number may be another process's by now."""
        return self._pid is not None and has_argument(self._pid, self._mark)


class Launcher:
    """Starts browsers by way of Playwright's driver, one process for all; started again should it die.

    ``key_hash``: of the one key that they are to believe whatever its certificate says, the proxy's.
    """

    def __init__(self, path: str, key_hash: str) -> None:
        self._path = path
        self._believed = f"--ignore-certificate-errors-spki-list={key_hash}"
        self._scratch: Scratch | None = None
        self._playwright: Playwright | None = None
        self._starting = asyncio.Lock()

    async def launch(self, proxy_url: str) -> Chromium | str:
        """A browser that knows no other way out than the proxy; or why there is none."""
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
            if not await self._driver_answers():  # otherwise it has other browsers to look after
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
            # The superuser cannot have the sandbox: it is made of what other users may not do.
            chromium_sandbox=os.geteuid() != 0,
            handle_sigint=False,  # the run decides when it ends
            handle_sigterm=False,
            handle_sighup=False,
        )
        pid = find_marked(mark)
        if pid is None and processes_are_seen():
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
    logging.getLogger("asyncio").addFilter(_is_not_about_a_dead_driver)
    try:
        return await async_playwright().start()
    except Exception as error:  # of one that dies meanwhile, Playwright raises no class of its own
        raise Error(str(error)) from error


def _is_not_about_a_dead_driver(record: logging.LogRecord) -> bool:
    """Playwright leaves that news lying about in futures and callbacks. Whoever needs the driver is told."""
    said = record.getMessage()
    return not any(word in said for word in _NEWS_OF_A_DEAD_DRIVER)


def _is_zygote(pid: int) -> bool:
    """One of the processes that Chromium on Linux makes its renderers from; those look like it at first, and
    are no children of the browser's own."""
    return has_argument(pid, "--type=zygote")


def _last_words(text: str) -> str:
    """The line of a browser's complaints that says what is the matter."""
    lines = [line.strip(" -") for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "FATAL" in line or "ERROR" in line or "exitCode" in line]
    return (telling or lines or ["no reason given"])[0][:300]
