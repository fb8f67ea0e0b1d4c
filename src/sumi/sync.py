"""The awaitable functions of ``sumi`` for programs without an event loop: the same names, called plainly.

Each call runs in an event loop of its own until it is done, and cannot be made where one is running already.
"""

import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from sumi.assembly.parts import run_loop
from sumi.jobs.capture.run import capture as _capture

__all__ = ["capture"]

P = ParamSpec("P")
T = TypeVar("T")


def _plain(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    @functools.wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> T:
        return run_loop(function(*arguments, **options))

    return call


capture = _plain(_capture)
