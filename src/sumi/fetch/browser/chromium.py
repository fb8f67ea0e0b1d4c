"""Browsers: how they start, what is switched off in them, and how they end if they do not listen."""

import asyncio
import os
import secrets
import shutil
from contextlib import suppress

from playwright.async_api import Browser, Error, Playwright, async_playwright

from sumi.fetch.browser.process_tree import argument_of, find_marked, kill_tree, private_bytes
from sumi.fetch.browser.scratch import Scratch

_START_SECONDS = 30.0
_CLOSE_SECONDS = 5.0
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

    def __init__(self, browser: Browser, pid: int | None) -> None:
        self.browser = browser
        self._pid = pid
        self._profile = None if pid is None else argument_of(pid, "user-data-dir")
        self._killed = False

    @property
    def is_running(self) -> bool:
        """Of one that was killed the driver hears a little later than the next page."""
        return not self._killed and self.browser.is_connected()

    @property
    def memory(self) -> int:
        return 0 if self._pid is None else private_bytes(self._pid)

    def kill(self) -> None:
        """At once, whatever it is doing."""
        self._killed = True
        if self._pid is not None:
            kill_tree(self._pid)

    async def aclose(self) -> None:
        """In good order if it will, otherwise not."""
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.browser.close()
        self.kill()
        if self._profile is not None:  # a browser that was killed leaves it behind
            await asyncio.to_thread(shutil.rmtree, self._profile, ignore_errors=True)


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
        async with self._starting:
            try:
                async with asyncio.timeout(_START_SECONDS):
                    return await self._launched(proxy_url)
            except TimeoutError:
                why = f"it did not start within {_START_SECONDS:g} s"
            except (Error, OSError) as error:
                why = _last_words(str(error))
            await self._stop()
            return why

    async def aclose(self) -> None:
        async with self._starting:
            await self._stop()
            if self._scratch is not None:
                await asyncio.to_thread(self._scratch.remove)

    async def _launched(self, proxy_url: str) -> Chromium:
        if self._playwright is None:
            self._playwright = await async_playwright().start()
        if self._scratch is None:
            self._scratch = await asyncio.to_thread(Scratch)
        mark = f"--sumi-browser={secrets.token_hex(8)}"
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
        return Chromium(browser, find_marked(mark))

    async def _stop(self) -> None:
        if self._playwright is None:
            return
        playwright, self._playwright = self._playwright, None
        with suppress(Error, OSError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await playwright.stop()


def _last_words(text: str) -> str:
    """The line of a browser's complaints that says what is the matter."""
    lines = [line.strip(" -") for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "FATAL" in line or "ERROR" in line or "exitCode" in line]
    return (telling or lines or ["no reason given"])[0][:300]
