"""What a durable store finds when it is opened again."""

import asyncio

from sumi.model import PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Deferral, HostReport
from tests.contract.backends import nothing_to_sync
from tests.contract.cases import Reopen, finish, page, urls


def test_reopening_finds_everything_and_frees_what_was_leased(reopen: Reopen) -> None:
    async def scenario() -> None:
        store = reopen(0.0)
        await store.add([page("/1"), page("/2"), page("/3")])
        first, second, _third = await store.lease(3, 0.0)
        await finish(store, first, found=(page("/4", 1),), facts=PageFacts(title="One"))
        await store.release_host(second, HostReport(reached=0.0, latency=0.0))
        await store.settle([Deferral(second, 0.0, 50.0, why=Verdict(Outcome.TIMED_OUT, "slow"))])
        before = await store.stats()
        await store.aclose()

        store = reopen(100.0)
        after = await store.stats()
        assert (after.known, after.pending, after.outcomes) == (before.known, before.pending, before.outcomes)
        assert after.leased == 0
        record = await store.record(first.url)
        assert record is not None
        assert record.facts.title == "One"
        found = await store.record("https://a.test/4")
        assert found is not None
        assert found.referrer is None or found.referrer == first.url
        leases = await store.lease(9, 100.0)
        assert sorted(urls(leases)) == ["/2", "/3", "/4"]
        assert {lease.url: lease.attempt for lease in leases}[second.url] == 1
        await store.aclose()

    asyncio.run(scenario())


def test_a_clock_that_was_set_back_makes_no_hold_longer_than_the_longest(reopen: Reopen) -> None:
    policy = FrontierPolicy(pacing=PacingPolicy(delay=0.0, sitemap_delay=0.0, max_hold=300.0))

    async def scenario() -> None:
        store = reopen(1_000_000.0, policy)
        await store.add([page("/1"), page("/2")])
        [lease] = await store.lease(1, 1_000_000.0)
        await store.release_host(lease, HostReport(1_000_000.0, 0.0, throttled=True, retry_after=200.0))
        await store.sync(nothing_to_sync)
        await store.aclose()

        store = reopen(1000.0, policy)
        assert await store.lease(9, 1299.0) == []
        assert len(await store.lease(9, 1300.0)) == 1
        await store.aclose()

    asyncio.run(scenario())


def test_politeness_outlives_the_process(reopen: Reopen) -> None:
    policy = FrontierPolicy(pacing=PacingPolicy(delay=1.0, sitemap_delay=1.0))

    async def scenario() -> None:
        store = reopen(0.0, policy)
        await store.add([page("/1"), page("/2"), page("/1", host="b.test"), page("/2", host="b.test")])
        for lease in await store.lease(9, 1.0):
            crawl_delay = 20.0 if lease.host == "a.test" else None
            throttled = lease.host == "b.test"
            report = HostReport(1.0, 0.0, throttled=throttled, retry_after=200.0, crawl_delay=crawl_delay)
            await store.release_host(lease, report)
        await store.sync(nothing_to_sync)
        await store.aclose()

        store = reopen(2.0, policy)
        assert await store.lease(9, 21.0) == []  # a full Crawl-delay from the moment of opening
        assert {lease.host for lease in await store.lease(9, 22.0)} == {"a.test"}
        assert await store.lease(9, 200.0) == []
        assert {lease.host for lease in await store.lease(9, 201.0)} == {"b.test"}
        await store.aclose()

    asyncio.run(scenario())
