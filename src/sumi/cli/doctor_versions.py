"""The versions that matter, each against the oldest that is good enough."""

import platform
import re
from importlib import metadata
from typing import NamedTuple

from sumi import __version__

_NUMBER = re.compile(r"\d+")
_FLOOR = re.compile(r">=\s*([\d.]+)")
_NAME = re.compile(r"[\w.-]+")

# Libraries that come inside others, so that no package manager looks after them.
_LIBCURL_FLOOR = "8.4.0"  # before: a heap overflow that a redirect can reach
_EXPAT_FLOOR = "2.6.0"  # before: quadratic time on some documents, which our refusal of DOCTYPE cuts short
_SQLITE_FLOOR = "3.51.3"  # before: a write-ahead log that two connections can reset under each other


class Check(NamedTuple):
    name: str
    found: str
    met: bool
    remark: str


def version_checks() -> list[Check]:
    return [
        Check("sumi", __version__, True, ""),
        Check("python", platform.python_version(), True, f"{platform.system()} {platform.machine()}"),
        *(_required(line) for line in metadata.requires("sumi") or () if "extra ==" not in line),
        _check("libcurl", _libcurl(), _LIBCURL_FLOOR),
        _sqlite(),
        _expat(),
    ]


def as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in _NUMBER.findall(version)[:3])


def _required(line: str) -> Check:
    """One of the package's own requirements, such as ``msgspec>=0.22``."""
    requirement = line.partition(";")[0]
    name, floor = _NAME.match(requirement), _FLOOR.search(requirement)
    assert name is not None
    try:
        found = metadata.version(name[0])
    except metadata.PackageNotFoundError:
        found = ""
    return _check(name[0], found, floor[1] if floor else "0")


def _check(name: str, found: str, floor: str) -> Check:
    if not found:
        return Check(name, "missing", False, f"needed: {floor} or newer")
    met = as_numbers(found) >= as_numbers(floor)
    return Check(name, found, met, "" if met else f"too old: {floor} or newer is needed")


def _libcurl() -> str:
    try:
        import pycurl
    except ImportError:
        return ""
    return str(pycurl.version_info()[1])


def _sqlite() -> Check:
    try:
        apsw = __import__("apsw")
    except ImportError:
        return Check("sqlite", "not installed", True, "only --state sqlite needs it")
    return _check("sqlite", str(apsw.sqlite_lib_version()), _SQLITE_FLOOR)


def _expat() -> Check:
    import pyexpat

    found = pyexpat.EXPAT_VERSION.removeprefix("expat_")
    check = _check("expat", found, _EXPAT_FLOOR)
    # Python brings it, so a user can hardly change it; sitemaps with a DOCTYPE are refused for that reason.
    return check._replace(met=True, remark="" if check.met else f"{_EXPAT_FLOOR} or newer is better")
