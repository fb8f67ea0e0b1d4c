"""Can pages be rendered here? Not needed for anything else, so nothing about it is ever wrong."""

from importlib import metadata

from sumi.cli.doctor_versions import Check
from sumi.fetch.browser.find import browser_version, installed_browser

_ONLY = "only --render needs it"


def browser_checks() -> list[Check]:
    return [_package("playwright"), _package("cryptography"), _browser()]


def _package(name: str) -> Check:
    try:
        return Check(name, metadata.version(name), True, "")
    except metadata.PackageNotFoundError:
        return Check(name, "not installed", True, f"{_ONLY}: pip install 'sumi[render]'")


def _browser() -> Check:
    path = installed_browser()
    if path is None:
        return Check("browser", "none found", True, f"{_ONLY}: Chromium or Chrome, by apt or from its makers")
    return Check("browser", browser_version(path) or "silent", True, path)
