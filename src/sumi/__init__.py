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
    from sumi.jobs.mirror.listing import Listing as Listing
    from sumi.jobs.mirror.listing import sitemap as sitemap
    from sumi.jobs.mirror.plan import Plan as Plan
    from sumi.jobs.mirror.plan import plan as plan
    from sumi.jobs.mirror.rebuild import rebuild as rebuild
    from sumi.jobs.mirror.run import mirror as mirror
    from sumi.settings import MirrorSettings as MirrorSettings

# Where each public name is; the list above says the same to type checkers.
_HOMES = {
    "Captured": "jobs.capture.run",
    "CaptureRun": "jobs.capture.run",
    "Captures": "jobs.capture.captures",
    "Control": "engine.control",
    "Listing": "jobs.mirror.listing",
    "MirrorSettings": "settings",
    "Plan": "jobs.mirror.plan",
    "SumiError": "errors",
    "Summary": "events",
    "capture": "jobs.capture.run",
    "mirror": "jobs.mirror.run",
    "plan": "jobs.mirror.plan",
    "rebuild": "jobs.mirror.rebuild",
    "sitemap": "jobs.mirror.listing",
}
__all__ = [  # noqa: PLE0604 - the keys are strings
    "__version__",
    "sync",
    *_HOMES,
]


def __getattr__(name: str) -> object:
    if name == "sync":
        return importlib.import_module("sumi.sync")
    if name not in _HOMES:
        raise AttributeError(f"module 'sumi' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"sumi.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
