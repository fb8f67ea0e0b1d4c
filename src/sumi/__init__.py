"""Sumi: a polite, resumable, fast web crawler. Every command is a function here: docs/guides/python.md.

Each name is loaded from its module when it is first used, so ``import sumi`` and ``sumi --help`` are cheap.
"""

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sumi import sync as sync
    from sumi.engine.control import Control as Control
    from sumi.errors import SumiError as SumiError
    from sumi.events import Summary as Summary
    from sumi.jobs.capture.captures import Captures as Captures
    from sumi.jobs.capture.run import Captured as Captured
    from sumi.jobs.capture.run import CaptureRun as CaptureRun
    from sumi.jobs.capture.run import capture as capture

_HOMES = {
    "Captured": "jobs.capture.run",
    "CaptureRun": "jobs.capture.run",
    "Captures": "jobs.capture.captures",
    "Control": "engine.control",
    "SumiError": "errors",
    "Summary": "events",
    "capture": "jobs.capture.run",
}
__all__ = [  # noqa: PLE0604 - the keys are strings
    "__version__",
    "sync",
    *_HOMES,
]


def __getattr__(name: str) -> object:
    if name == "sync":
        return importlib.import_module("sumi.sync")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sumi' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"sumi.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
