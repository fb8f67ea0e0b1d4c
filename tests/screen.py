"""A screen for programs with windows; without Xvfb the tests that need one are skipped, saying so."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sumi.fetch.browser.rendering import WITH_WINDOWS, installed_browser

needs_screen = pytest.mark.skipif(
    shutil.which("Xvfb") is None or installed_browser(WITH_WINDOWS) is None,
    reason="logging in needs a screen and a browser with windows (apt install xvfb chromium)",
)


@contextmanager
def screen() -> Iterator[dict[str, str]]:
    """The environment of a program that shows its windows there."""
    readable, writable = os.pipe()
    words = ["Xvfb", "-displayfd", str(writable), "-screen", "0", "1024x768x24", "-nolisten", "tcp"]
    process = subprocess.Popen(words, pass_fds=[writable], stderr=subprocess.DEVNULL)
    os.close(writable)
    try:
        with os.fdopen(readable) as told:
            number = told.readline().strip()
        assert number, "Xvfb did not start"
        yield {"DISPLAY": f":{number}", "WAYLAND_DISPLAY": ""}
    finally:
        process.terminate()
        process.wait()
