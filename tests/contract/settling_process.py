"""A process that settles batch after batch and says of each that it was told to be written; it is killed."""

import asyncio
import sys
from pathlib import Path

from sumi.model import PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import HostReport, Settlement
from tests.contract.backends import DURABLE

POLICY = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=100))
BATCH = 64


async def settle_all(backend: str, folder: Path) -> None:
    store = DURABLE[backend](folder, POLICY, 0.0)
    while leases := await store.lease(BATCH, 1.0):
        for lease in leases:
            await store.release_host(lease, HostReport(reached=1.0, latency=0.01))
        facts = PageFacts(status=200, path="a/index.md", title="A page")
        await store.settle([Settlement(each, Verdict(Outcome.CAPTURED), 1.0, facts) for each in leases])
        print(*(lease.url for lease in leases), flush=True)
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(settle_all(sys.argv[1], Path(sys.argv[2])))
