"""The engine's connections to the world, made by ``sumi.assembly`` and handed down explicitly."""

from collections.abc import Callable
from dataclasses import dataclass

from sumi.engine.sources import NO_SOURCE
from sumi.events import Listener
from sumi.ports import AssetKeeper, Clock, Digester, Fetcher, Frontier, Ledger, Output, Source


@dataclass(frozen=True, slots=True)
class Io:
    frontier: Frontier
    ledger: Ledger
    fetcher: Fetcher
    digester: Digester
    output: Output
    clock: Clock
    tell: Listener
    jitter: Callable[[], float]  # uniform in [0, 1)
    source: Source = NO_SOURCE
    assets: AssetKeeper | None = None  # for a recipe with ``asset_bytes``
