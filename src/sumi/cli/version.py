"""``sumi version``: what to put into a bug report."""

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from sumi import __version__
from sumi.console.parser import SentenceParser

_PARTS = ("turbohtml", "ada-url", "pycurl", "msgspec", "uvloop")


def build_parser() -> SentenceParser:
    return SentenceParser(
        prog="sumi version",
        usage="sumi version",
        description="Prints the versions of Sumi, Python and the main libraries.",
        epilog="examples:\n  sumi version    for a bug report\n",
    )


def run(arguments: Sequence[str]) -> int:
    build_parser().parse_all(arguments)
    print(f"sumi {__version__}")
    print(f"python {platform.python_version()} on {platform.system()} {platform.machine()}")
    for part in _PARTS:
        print(f"{part} {_version_of(part)}")
    return 0


def _version_of(part: str) -> str:
    try:
        return version(part)
    except PackageNotFoundError:
        return "missing"
