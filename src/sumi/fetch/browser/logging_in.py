"""A browser window in which a person logs in; what it then has for some hosts is kept.

The window is the person's own: nothing is typed, blocked or looked at but cookies and local storage.
"""

import asyncio
import os
import select
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, async_playwright

from sumi.errors import UsageError
from sumi.fetch.browser.chromium import FAILURES, Scratch, first_line_of
from sumi.fetch.browser.page_scripts import LOCAL_STORAGE
from sumi.fetch.cookie_file import BrowserCookie
from sumi.fetch.kept_session import KeptSession, hosts_of

if TYPE_CHECKING:
    from playwright.async_api import Cookie

LONGEST_SECONDS: Final = 15 * 60.0
_LOOK_SECONDS: Final = 0.25
_ANSWER_SECONDS: Final = 5.0
_MOST_STORED: Final = 4 * 1024 * 1024  # characters of local storage


def log_in(url: str, sites: Sequence[str], browser: str, keep_seconds: float) -> KeptSession:
    """Opens the window and waits until it is closed, or Enter is pressed. Raises UsageError if nothing that
    could be kept was set."""
    return asyncio.run(_log_in(url, hosts_of([url, *sites]), browser, keep_seconds))


async def _log_in(url: str, hosts: tuple[str, ...], program: str, keep_seconds: float) -> KeptSession:
    scratch = Scratch()
    try:
        async with async_playwright() as playwright:
            try:
                browser = await playwright.chromium.launch(
                    executable_path=program,
                    headless=False,
                    env={**os.environ, "TMPDIR": scratch.path},
                    # Chromium refuses to run its sandbox as root.
                    chromium_sandbox=os.geteuid() != 0,
                )
            except FAILURES as error:
                raise UsageError(f"no browser window can be opened: {first_line_of(error)}") from None
            seen = await _watched(browser, url, hosts)
    finally:
        scratch.remove()
    if not seen.cookies and not seen.storage:
        raise UsageError(f"no cookie was set for {' or '.join(hosts)}, so there is nothing to keep")
    now = time.time()
    return KeptSession(
        url=url,
        created=now,
        expires=now + keep_seconds,
        hosts=hosts,
        cookies=tuple(seen.cookies),
        storage=seen.storage,
    )


class _Seen:
    def __init__(self) -> None:
        self.cookies: list[BrowserCookie] = []
        self.storage: dict[str, tuple[tuple[str, str], ...]] = {}


async def _watched(browser: Browser, url: str, hosts: Sequence[str]) -> _Seen:
    """What the browser had when it was last looked at: once it is closed, nobody can ask it."""
    seen, is_done, end = _Seen(), _enter_pressed(), time.monotonic() + LONGEST_SECONDS
    try:
        context = await browser.new_context(no_viewport=True)
        page = await context.new_page()
        await page.goto(url, wait_until="commit")
    except FAILURES as error:
        if not _led_elsewhere(error):
            await browser.close()
            raise UsageError(f"{url} cannot be opened: {first_line_of(error)}") from None
    try:
        while time.monotonic() < end:
            last = is_done()
            async with asyncio.timeout(_ANSWER_SECONDS):
                await _look(context, hosts, seen)
            if last or not context.pages:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        await browser.close()
    except (*FAILURES, TimeoutError):
        pass  # it was closed
    return seen


async def _look(context: BrowserContext, hosts: Sequence[str], seen: _Seen) -> None:
    ours = (_kept(cookie, hosts) for cookie in await context.cookies())
    seen.cookies = [cookie for cookie in ours if cookie is not None]
    for page in context.pages:
        if urlsplit(page.url).hostname not in {host.strip("[]") for host in hosts}:
            continue
        with suppress(*FAILURES):  # it is on its way to another page
            origin, items = await page.evaluate(LOCAL_STORAGE)
            if items and sum(len(name) + len(value) for name, value in items) <= _MOST_STORED:
                seen.storage[origin] = tuple((name, value) for name, value in items)


def _led_elsewhere(error: BaseException) -> bool:
    """Sign-in pages send people on before they have loaded."""
    said = str(error)
    return "interrupted by another navigation" in said or "ERR_ABORTED" in said


def _kept(cookie: "Cookie", hosts: Sequence[str]) -> BrowserCookie | None:
    """One for a host of ours, as a cookie file has it."""
    domain = cookie.get("domain", "")
    name = domain.removeprefix(".").lower()
    below = domain.startswith(".")
    if not any(host == name or (below and host.endswith(f".{name}")) for host in hosts):
        return None
    expires = cookie.get("expires", -1)
    found = BrowserCookie(
        name,
        below,
        cookie.get("path", "/"),
        cookie.get("secure", False),
        max(expires, 0.0),
        cookie.get("name", ""),
        cookie.get("value", ""),
    )
    return found if found.can_be_sent else None


def _enter_pressed() -> Callable[[], bool]:
    """Whether a line has come by standard input, if there is one."""
    watching = sys.stdin is not None and not sys.stdin.closed

    def pressed() -> bool:
        nonlocal watching
        if not watching or not select.select([sys.stdin], [], [], 0)[0]:
            return False
        typed = os.read(sys.stdin.fileno(), 4096)
        watching = bool(typed)
        return b"\n" in typed

    return pressed
