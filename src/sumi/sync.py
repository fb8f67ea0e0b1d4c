"""The awaitable functions of ``sumi`` for programs without an event loop: the same names, called plainly.

Each call runs in an event loop of its own until it is done, and cannot be made where one is running already.
"""

import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from sumi.assembly.parts import run_loop
from sumi.jobs.capture.run import capture as _capture
from sumi.jobs.mirror.listing import sitemap as _sitemap
from sumi.jobs.mirror.plan import plan as _plan
from sumi.jobs.mirror.rebuild import rebuild as _rebuild
from sumi.jobs.mirror.run import mirror as _mirror

__all__ = ["capture", "mirror", "plan", "rebuild", "sitemap"]

P = ParamSpec("P")
T = TypeVar("T")


def _plain(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    @functools.wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> T:
        return run_loop(function(*arguments, **options))

    return call


capture = _plain(_capture)
mirror = _plain(_mirror)
plan = _plain(_plan)
rebuild = _plain(_rebuild)
sitemap = _plain(_sitemap)
