"""Whom to ask now: hosts are spaced, sitemaps come first where asked, what failed before comes last."""

from sumi.model import Candidate, Hop, Kind
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import HostReport, Judged
from tests.contract.backends import Store
from tests.contract.cases import (
    ONE_BY_ONE,
    UNPACED,
    Run,
    finish,
    image,
    leased_one_by_one,
    page,
    put_back,
    sitemap,
    urls,
)


def test_hosts_are_spaced_and_do_not_hold_each_other_up(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1"), page("/2"), page("/1", host="b.test")])
        assert await store.lease(10, 0.5) == []
        assert await store.next_ready(0.5) == 1.0
        first = await store.lease(10, 1.0)
        assert sorted(lease.host for lease in first) == ["a.test", "b.test"]
        assert await store.lease(10, 5.0) == []  # still in flight
        await store.release_host(first[0], HostReport(reached=5.0, latency=0.01))
        assert await store.lease(10, 5.9) == []
        assert urls(await store.lease(10, 6.0)) == ["/2"]

    run(scenario, FrontierPolicy(pacing=PacingPolicy(delay=1.0, sitemap_delay=1.0)))


def test_crawl_delay_and_retry_after_hold_only_their_host(run: Run) -> None:
    async def scenario(store: Store) -> None:
        hosts = ("a.test", "b.test", "c.test")
        await store.add([page(f"/{n}", host=host) for n in range(3) for host in hosts])
        leases = {lease.host: lease for lease in await store.lease(3, 1.0)}
        await store.release_host(leases["a.test"], HostReport(reached=1.0, latency=0.0, crawl_delay=10.0))
        throttled = HostReport(reached=1.0, latency=0.0, throttled=True, retry_after=60.0)
        await store.release_host(leases["b.test"], throttled)
        await store.release_host(leases["c.test"], HostReport(reached=1.0, latency=0.0))
        assert [lease.host for lease in await store.lease(9, 2.0)] == ["c.test"]
        assert [lease.host for lease in await store.lease(9, 11.0)] == ["a.test"]
        assert [lease.host for lease in await store.lease(9, 61.0)] == ["b.test"]
        waits = {wait.host: wait for wait in await store.waiting_hosts(11.5)}
        assert waits["b.test"].pending == 1

    run(scenario, FrontierPolicy(pacing=PacingPolicy(delay=1.0, sitemap_delay=1.0)))


def test_pages_wait_for_the_sitemaps_of_their_own_host_where_asked(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/"), sitemap("/s1.xml"), page("/b", host="b.test")])
        lease, other = await store.lease(9, 0.0)
        assert sorted(urls([lease, other])) == ["/s1.xml", "https://b.test/b"]
        first = lease if lease.candidate.kind is Kind.SITEMAP else other
        await finish(store, first, Verdict(Outcome.READ), found=(sitemap("/s2.xml"), page("/listed")))
        [second] = await store.lease(9, 0.0)
        assert urls([second]) == ["/s2.xml"]
        await finish(store, second, Verdict(Outcome.READ))
        assert sorted(urls(await store.lease(9, 0.0))) == ["/", "/listed"]

    run(scenario, FrontierPolicy(pacing=UNPACED, sitemaps_first=True))


def test_a_sitemap_that_is_tried_again_holds_the_pages_of_its_host_and_is_tried_again(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/"), sitemap("/s.xml")])
        [lease] = await store.lease(9, 0.0)
        await put_back(store, lease, at=0.0, not_before=5.0)
        assert await store.lease(9, 0.0) == []
        assert await store.next_ready(0.0) == 5.0
        [again] = await store.lease(9, 5.0)
        assert urls([again]) == ["/s.xml"]
        await finish(store, again, Verdict(Outcome.SERVER_ERROR))
        assert urls(await store.lease(9, 5.0)) == ["/"]

    run(scenario, FrontierPolicy(pacing=UNPACED, sitemaps_first=True))


def test_sitemaps_that_another_host_named_hold_nobody_and_come_behind_the_pages(run: Run) -> None:
    async def scenario(store: Store) -> None:
        named = [
            Candidate(
                f"https://b.test/{n}.xml", Hop.ROBOTS, Kind.SITEMAP, referrer="https://a.test/robots.txt"
            )
            for n in range(3)
        ]
        await store.add([*map(Judged, named), page("/1", host="b.test"), page("/2", host="b.test")])
        assert await leased_one_by_one(store, 5) == [
            "https://b.test/1",
            "https://b.test/2",
            *(candidate.url for candidate in named),
        ]

    run(scenario, FrontierPolicy(pacing=ONE_BY_ONE, sitemaps_first=True))


def test_what_failed_before_comes_behind_what_was_never_asked(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1"), page("/2", depth=5), image("/3", depth=9)])
        [first] = await store.lease(1, 0.0)
        assert urls([first]) == ["/3"]
        await put_back(store, first, at=0.0, not_before=0.0)
        [second] = await store.lease(1, 1.0)
        await put_back(store, second, at=0.0, not_before=0.5)
        await store.add([page("/4", depth=7)])
        order = await leased_one_by_one(store, 4, now=2.0)
        assert order == ["/2", "/4", "/3", "/1"]

    run(scenario, FrontierPolicy(pacing=ONE_BY_ONE))


def test_a_page_that_failed_in_an_earlier_run_comes_behind_what_was_never_asked(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1"), page("/2")])
        one, two = await store.lease(9, 0.0)
        await finish(store, one, Verdict(Outcome.SERVER_ERROR, "HTTP 500"))
        await finish(store, two, Verdict(Outcome.CAPTURED))
        await store.add([page("/3", depth=3)])
        assert await store.requeue([one.url, two.url], 1.0) == 2
        leases = await store.lease(9, 1.0)
        assert urls(leases) == ["/2", "/3", "/1"]
        assert [lease.attempt for lease in leases] == [0, 0, 0]

    run(scenario)


def test_retries_of_pages_wait_for_room_under_a_cap_and_those_of_images_do_not(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1"), image("/i"), page("/2")])
        [shown] = await store.lease(1, 0.0)
        await put_back(store, shown, at=0.0, not_before=3.0)
        [failing] = await store.lease(9, 1.0)
        await put_back(store, failing, at=1.0, not_before=2.0)
        [held] = await store.lease(9, 2.0)
        assert urls([held]) == ["/2"]
        assert await store.lease(9, 2.5) == []  # "/1" has to wait for what becomes of "/2"
        assert await store.next_ready(2.5) == 3.0
        assert urls(await store.lease(9, 3.0)) == ["/i"]
        await finish(store, held, Verdict(Outcome.NOT_FOUND))
        assert urls(await store.lease(9, 3.0)) == ["/1"]

    run(scenario, FrontierPolicy(pacing=UNPACED, max_pages=1))


def test_a_host_that_only_has_failing_pages_left_is_not_held_by_us(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1"), page("/2"), page("/3")])
        for now in (0.0, 1.0):
            [lease] = await store.lease(1, now)
            await store.release_host(lease, HostReport(now, 0.0, ok=False))
            await put_back(store, lease, at=now, not_before=now + 1.0)
        assert await store.lease(9, 100.0) == []  # "/3" was never asked, and for its sake the host rests
        assert await store.next_ready(100.0) == 901.0
        [wait] = await store.waiting_hosts(100.0)
        assert (wait.ready_at, wait.why) == (901.0, "failed for 2 different URLs in a row")
        [trial] = await store.lease(9, 901.0)
        assert urls([trial]) == ["/3"]
        await store.release_host(trial, HostReport(901.0, 0.0, ok=False))
        await put_back(store, trial, at=901.0, not_before=902.0)
        assert urls(await store.lease(9, 902.0)) == ["/1"]

    run(scenario, FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, circuit_failures=2)))


def test_new_limits_hold_from_the_moment_they_are_set(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1"), page("/2"), page("/3")])
        assert await store.lease(9, 99.0) == []  # a hundred seconds from the opening
        await store.retune(FrontierPolicy(pacing=PacingPolicy(delay=100.0, per_host=2)))
        [first] = await store.lease(9, 100.0)
        assert await store.lease(9, 150.0) == []
        await store.release_host(first, HostReport(reached=100.0, latency=0.0))
        await store.retune(FrontierPolicy(pacing=PacingPolicy(delay=1.0)))
        [second] = await store.lease(9, 200.0)
        await store.release_host(second, HostReport(reached=200.0, latency=0.0))
        assert len(await store.lease(9, 201.0)) == 1

    run(scenario, FrontierPolicy(pacing=PacingPolicy(delay=100.0)))
