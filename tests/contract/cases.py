"""What the cases of the contract are made of: candidates, and the steps of a crawl."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from sumi.model import Candidate, Hop, Kind, Lease
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Deferral, HostReport, Judged, Settlement
from tests.contract.backends import Store

ONE_BY_ONE = PacingPolicy(delay=0.0, sitemap_delay=0.0)
UNPACED = PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=100)
DEFAULT = FrontierPolicy(pacing=UNPACED)
CAPTURED = Verdict(Outcome.CAPTURED, "HTTP 200")

Scenario = Callable[[Store], Coroutine[Any, Any, None]]


class Run(Protocol):
    """Runs a scenario on a fresh store."""

    backend: str

    def __call__(self, scenario: Scenario, policy: FrontierPolicy = DEFAULT) -> None: ...


class Reopen(Protocol):
    """Opens one durable store, again and again."""

    def __call__(self, now: float, policy: FrontierPolicy = DEFAULT) -> Store: ...


def page(path: str, depth: int = 0, hop: Hop = Hop.LINK, host: str = "a.test") -> Judged:
    return Judged(Candidate(f"https://{host}{path}", hop, Kind.PAGE, depth))


def refused(path: str, outcome: Outcome, depth: int = 0) -> Judged:
    return Judged(Candidate(f"https://a.test{path}", Hop.LINK, Kind.PAGE, depth), Verdict(outcome, "a rule"))


def image(path: str, depth: int = 0) -> Judged:
    return Judged(Candidate(f"https://a.test{path}", Hop.EMBED, Kind.IMAGE, depth))


def sitemap(path: str) -> Judged:
    return Judged(Candidate(f"https://a.test{path}", Hop.ROBOTS, Kind.SITEMAP))


def urls(leases: list[Lease]) -> list[str]:
    return [lease.url.removeprefix("https://a.test") for lease in leases]


async def finish(store: Store, lease: Lease, verdict: Verdict = CAPTURED, **more: Any) -> bool:
    await store.release_host(lease, HostReport(reached=lease.deadline - 300, latency=0.0))
    [answer] = await store.settle([Settlement(lease, verdict, 1.0, **more)])
    return answer


async def put_back(store: Store, lease: Lease, at: float, not_before: float) -> None:
    """It failed, and is tried again."""
    why = Verdict(Outcome.SERVER_ERROR, "HTTP 500")
    await store.release_host(lease, None)
    assert await store.settle([Deferral(lease, at, not_before, why)]) == [True]


async def leased_one_by_one(store: Store, count: int, now: float = 0.0) -> list[str]:
    """What is handed out, each settled before the next."""
    order: list[str] = []
    for _ in range(count):
        leases = await store.lease(1, now)
        order += urls(leases)
        for lease in leases:
            await finish(store, lease)
    return order
