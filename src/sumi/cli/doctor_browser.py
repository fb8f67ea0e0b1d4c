"""Can pages be rendered here? Not needed for anything else, so nothing about it is ever wrong."""

from importlib import metadata

from sumi.cli.doctor_versions import Check
from sumi.fetch.browser.find import browser_version, installed_browser

_ONLY = "only --render needs it"


def browser_checks() -> list[Check]:
    return [_playwright(), _browser()]


def _playwright() -> Check:
    try:
        return Check("playwright", metadata.version("playwright"), True, "")
    except metadata.PackageNotFoundError:
        return Check("playwright", "not installed", True, f"{_ONLY}: pip install 'sumi[render]'")


def _browser() -> Check:
    path = installed_browser()
    if path is None:
        return Check("browser", "none found", True, f"{_ONLY}: Chromium or Chrome, by apt or from its makers")
    return Check("browser", browser_version(path) or "silent", True, path)
