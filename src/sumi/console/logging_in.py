"""Lets a person log in to a site in a browser of theirs, before a run that needs it."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError
from sumi.fetch.kept_session import (
    KeptSession,
    save_session,
    session_file,
    session_name,
    usable_session,
)

KEEP_DAYS: Final = 7.0
_DAY: Final = 86_400.0


def ensure_logged_in(login: str | None, sites: Sequence[str], browser: str | None) -> None:
    """At a desk, a browser window opens unless there is a session to go on with; elsewhere the run says what
    is missing."""
    if login is None or not sites or not sys.stdin.isatty() or not _has_screen():
        return
    why = usable_session(login, sites)
    if isinstance(why, str):
        Sink(sys.stderr).line(f"{why}")
        log_in_and_keep(login, sites, browser, KEEP_DAYS)


def log_in_and_keep(login: str, sites: Sequence[str], browser: str | None, days: float) -> KeptSession:
    if not _has_screen():
        raise UsageError(
            "there is no screen to open a browser on: log in on a machine that has one and bring "
            f"{session_file(session_name(login))} here, or use --cookie-file"
        )
    try:
        from sumi.fetch.browser.logging_in import LONGEST_SECONDS, log_in
    except ImportError:
        raise UsageError("logging in needs Playwright: pip install 'sumi[render]'") from None
    err, file = Sink(sys.stderr), session_file(session_name(login))
    err.line(f"A browser opens at {printable(login)}. Log in there, then close it or press Enter here.")
    err.line(f"It closes by itself after {LONGEST_SECONDS / 60:g} minutes.")
    session = log_in(login, sites, _browser(browser), days * _DAY)
    save_session(file, session)
    for host in session.hosts:
        count = sum(host == cookie.domain or host.endswith(f".{cookie.domain}") for cookie in session.cookies)
        err.line(f"kept: {count} {'cookie' if count == 1 else 'cookies'} for {printable(host)}")
    err.line(f"until {moment(session.expires)}, in {file}, which only you can read")
    return session


def moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _browser(given: str | None) -> str:
    from sumi.fetch.browser.rendering import WITH_WINDOWS, find_browser, installed_browser

    found = find_browser(given) if given is not None else installed_browser(WITH_WINDOWS)
    if found is None:
        raise UsageError(
            "logging in needs Chromium or Chrome, and none was found; install one (on Debian: apt install "
            "chromium), or name it with --browser"
        )
    if "headless" in Path(found).name:
        raise UsageError(f"{found} has no windows: name a whole Chromium or Chrome with --browser")
    return found


def _has_screen() -> bool:
    on_linux = sys.platform.startswith("linux")
    return not on_linux or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
