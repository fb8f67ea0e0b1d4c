"""Every case of the contract runs on every backend."""

import asyncio
from pathlib import Path

import pytest

from sumi.policy import FrontierPolicy
from tests.contract.backends import BACKENDS, DURABLE, SERVED, Store
from tests.contract.cases import DEFAULT, Reopen, Run, Scenario


class _Runner:
    def __init__(self, backend: str, folder: Path) -> None:
        self.backend = backend
        self._folder = folder

    def __call__(self, scenario: Scenario, policy: FrontierPolicy = DEFAULT) -> None:
        async def with_store() -> None:
            store = {**BACKENDS, **SERVED}[self.backend](self._folder, policy, 0.0)
            try:
                await scenario(store)
            finally:
                await store.aclose()

        asyncio.run(with_store())


@pytest.fixture(params=sorted({**BACKENDS, **SERVED}))
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    return _Runner(request.param, tmp_path)


@pytest.fixture(params=sorted({**DURABLE, **SERVED}))
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Reopen:
    def opened(now: float, policy: FrontierPolicy = DEFAULT) -> Store:
        return {**DURABLE, **SERVED}[request.param](tmp_path, policy, now)

    return opened
