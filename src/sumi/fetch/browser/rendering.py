"""Finds a browser and adds it to a job's fetcher. Loads Playwright only if pages are rendered."""

import os
import shutil
import subprocess
from collections.abc import Sequence

from sumi.errors import UsageError
from sumi.policy import FetchLimits, NetworkPolicy, RenderMode, RenderPolicy
from sumi.ports import Clock, Fetcher

WITH_WINDOWS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
# Headless shells first: the same engine in half the memory.
NAMES = ("chromium-headless-shell", "chrome-headless-shell", *WITH_WINDOWS)
PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
_VERSION_SECONDS = 20.0


def find_browser(given: str | None) -> str:
    """The path of a Chromium. Raises UsageError with advice on how to install one."""
    if given is not None:
        found = shutil.which(given)
        if found is None:
            raise UsageError(
                f"--browser {given!r} is not a program that can be run; name a Chromium or Chrome"
            )
        return found
    found = installed_browser()
    if found is None:
        raise UsageError(
            "--render needs Chromium or Chrome, and none was found; install one (on Debian: apt install "
            "chromium-headless-shell), name it with --browser, or omit --render"
        )
    return found


def installed_browser(names: Sequence[str] = NAMES) -> str | None:
    named = (shutil.which(name) for name in names)
    placed = (place for place in PLACES if os.access(place, os.X_OK))
    return next((path for path in (*named, *placed) if path is not None), None)


def browser_version(path: str) -> str:
    """By ``--version``; "" if that fails."""
    try:
        done = subprocess.run(  # noqa: S603 - a path that the user or the system's own PATH gave
            [path, "--version"], capture_output=True, text=True, timeout=_VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = done.stdout.split()
    return next((word for word in words if word[:1].isdigit()), "")


def rendering(
    fetcher: Fetcher, policy: RenderPolicy, limits: FetchLimits, network: NetworkPolicy, clock: Clock
) -> Fetcher:
    """``fetcher`` itself if nothing is rendered. Raises UsageError if rendering is impossible.

    The result owns ``fetcher`` and closes it.
    """
    if policy.mode is RenderMode.NONE:
        return fetcher
    path = find_browser(policy.browser)
    try:
        from sumi.fetch.browser.fetcher import browser_behind
    except ImportError:
        raise UsageError(
            "--render needs packages that are not installed (playwright, cryptography): "
            "pip install 'sumi[render]'"
        ) from None
    return browser_behind(fetcher, path, policy, limits, network, clock)
