"""What every frontier promises, whatever it is built on."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from sumi.model import Candidate, Hop, Kind, Lease, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Deferral, HostReport, Judged, RobotsRecord, Settlement
from tests.contract.backends import BACKENDS, DURABLE, Store, nothing_to_sync

ONE_BY_ONE = PacingPolicy(delay=0.0, manifest_delay=0.0)
UNPACED = PacingPolicy(delay=0.0, manifest_delay=0.0, per_host=100)
DEFAULT = FrontierPolicy(pacing=UNPACED)
CAPTURED = Verdict(Outcome.CAPTURED, "HTTP 200")

Scenario = Callable[[Store], Coroutine[Any, Any, None]]
Run = Callable[..., None]


@pytest.fixture(params=sorted(BACKENDS))
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Run a scenario on a fresh store of each backend."""

    def run_on(scenario: Scenario, policy: FrontierPolicy = DEFAULT) -> None:
        async def with_store() -> None:
            store = BACKENDS[request.param](tmp_path, policy, 0.0)
            try:
                await scenario(store)
            finally:
                await store.aclose()

        asyncio.run(with_store())

    return run_on


def page(path: str, depth: int = 0, hop: Hop = Hop.LINK, host: str = "a.test") -> Judged:
    return Judged(Candidate(f"https://{host}{path}", hop, Kind.PAGE, depth))


def refused(path: str, outcome: Outcome, depth: int = 0) -> Judged:
    return Judged(Candidate(f"https://a.test{path}", Hop.LINK, Kind.PAGE, depth), Verdict(outcome, "a rule"))


def image(path: str, depth: int = 0) -> Judged:
    return Judged(Candidate(f"https://a.test{path}", Hop.EMBED, Kind.IMAGE, depth))


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


def sitemap(path: str) -> Judged:
    return Judged(Candidate(f"https://a.test{path}", Hop.ROBOTS, Kind.SITEMAP))


def urls(leases: list[Lease]) -> list[str]:
    return [lease.url.removeprefix("https://a.test") for lease in leases]


async def finish(store: Store, lease: Lease, verdict: Verdict = CAPTURED, **more: Any) -> bool:
    await store.release_host(lease, HostReport(reached=lease.deadline - 300, latency=0.0))
    [answer] = await store.settle([Settlement(lease, verdict, 1.0, **more)])
    return answer


def test_a_url_enters_once_for_ever(run: Run) -> None:
    async def scenario(store: Store) -> None:
        assert await store.add([page("/1"), page("/1"), page("/2")]) == [True, False, True]
        [lease] = await store.lease(1, 0.0)
        assert await store.add([page("/1")]) == [False]  # leased
        await finish(store, lease)
        assert await store.add([page("/1")]) == [False]  # settled
        assert (await store.stats()).known == 2

    run(scenario)


def test_lowest_depth_then_discovery_order(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/deep", 2), page("/b", 1), page("/a", 1), page("/top", 0)])
        assert urls(await store.lease(10, 0.0)) == ["/top", "/b", "/a", "/deep"]

    run(scenario)


def test_a_shorter_way_moves_a_waiting_url_forward(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/far", 5), page("/near", 2)])
        assert await store.unseen(["https://a.test/far"], 1, Hop.LINK) == ["https://a.test/far"]
        assert await store.add([page("/far", 1)]) == [True]
        assert urls(await store.lease(10, 0.0)) == ["/far", "/near"]

    run(scenario)


def test_a_sitemap_found_again_as_a_page_is_still_read_first_and_once(run: Run) -> None:
    async def scenario(store: Store) -> None:
        found = Judged(Candidate("https://a.test/s.xml", Hop.LINK, Kind.SITEMAP, 3))
        await store.add([found, page("/other", 5)])
        assert await store.add([page("/s.xml", 1)]) == [True]
        [lease] = await store.lease(9, 0.0)
        assert (lease.candidate.kind, lease.candidate.depth) == (Kind.SITEMAP, 1)
        await finish(store, lease, Verdict(Outcome.READ))
        assert urls(await store.lease(9, 0.0)) == ["/other"]  # nothing is left that it would wait for

    run(scenario, FrontierPolicy(pacing=UNPACED, sitemaps_first=True))


def test_a_page_first_found_too_deep_is_not_lost(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([refused("/x", Outcome.TOO_DEEP, 9)])
        assert await store.lease(1, 0.0) == []
        assert await store.unseen(["https://a.test/x"], 9, Hop.LINK) == []
        assert await store.unseen(["https://a.test/x"], 2, Hop.LINK) == ["https://a.test/x"]
        assert await store.add([page("/x", 2)]) == [True]
        stats = await store.stats()
        assert (stats.known, stats.pending, stats.outcomes) == (1, 1, {})
        assert urls(await store.lease(1, 0.0)) == ["/x"]

    run(scenario)


def test_a_listing_lifts_the_refusal_of_an_unlisted_link(run: Run) -> None:
    async def scenario(store: Store) -> None:
        url = "https://a.test/x"
        await store.add([refused("/x", Outcome.UNLISTED), refused("/y", Outcome.OUT_OF_SCOPE)])
        assert await store.unseen([url, "https://a.test/y"], 0, Hop.LINK) == []
        assert await store.unseen([url, "https://a.test/y"], 0, Hop.MANIFEST) == [url]
        assert await store.add([page("/x", hop=Hop.MANIFEST)]) == [True]
        assert (await store.stats()).listed == 1

    run(scenario)


def test_outcomes_and_what_is_pending_add_up_to_what_is_known(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1"), page("/2"), page("/3"), refused("/no", Outcome.OUT_OF_SCOPE)])
        first, second, _ = await store.lease(3, 0.0)
        await finish(store, first, found=(page("/4"), refused("/no2", Outcome.EXCLUDED), page("/1")))
        await finish(store, second, Verdict(Outcome.NOT_FOUND, "HTTP 404"))
        stats = await store.stats()
        assert stats.outcomes == {
            Outcome.CAPTURED: 1,
            Outcome.NOT_FOUND: 1,
            Outcome.OUT_OF_SCOPE: 1,
            Outcome.EXCLUDED: 1,
        }
        assert (stats.pending, stats.leased, stats.known) == (2, 1, 6)
        assert sum(stats.outcomes.values()) + stats.pending == stats.known

    run(scenario)


def test_only_the_holder_of_a_lease_can_settle_it(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1")])
        [stale] = await store.lease(1, 0.0)
        [fresh] = await store.lease(1, 1000.0)  # the first one's deadline has passed
        assert fresh.url == stale.url
        assert not await finish(store, stale)
        assert (await store.stats()).outcomes == {}
        assert await finish(store, fresh)
        assert not await finish(store, fresh)  # only once
        assert (await store.stats()).outcomes == {Outcome.CAPTURED: 1}

    run(scenario)


def test_a_renewed_lease_outlives_its_first_deadline(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1")])
        [lease] = await store.lease(1, 0.0)
        assert await store.renew([lease], 200.0) == [True]
        assert await store.lease(1, 400.0) == []
        assert await finish(store, lease)
        assert await store.renew([lease], 450.0) == [False]

    run(scenario)


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

    run(scenario, FrontierPolicy(pacing=PacingPolicy(delay=1.0, manifest_delay=1.0)))


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

    run(scenario, FrontierPolicy(pacing=PacingPolicy(delay=1.0, manifest_delay=1.0)))


def test_a_deferred_url_waits_for_its_own_time(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1"), page("/2")])
        [lease] = await store.lease(1, 0.0)
        await store.release_host(lease, HostReport(reached=0.0, latency=0.0, ok=False))
        await store.settle([Deferral(lease, 0.0, 30.0, why=Verdict(Outcome.TIMED_OUT, "slow"))])
        assert urls(await store.lease(9, 1.0)) == ["/2"]
        assert await store.next_ready(1.0) == 30.0
        [again] = await store.lease(9, 30.0)
        assert (again.url, again.attempt) == (lease.url, 1)
        assert again.token != lease.token

    run(scenario)


def test_a_redirect_within_the_identity_changes_only_the_address(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1")])
        [lease] = await store.lease(1, 0.0)
        await store.release_host(lease, HostReport(reached=0.0, latency=0.0))
        await store.settle([Deferral(lease, 0.0, 0.0, address="https://a.test/1/", redirected=True)])
        [again] = await store.lease(1, 1.0)
        assert (again.url, again.target) == ("https://a.test/1", "https://a.test/1/")
        assert (again.attempt, again.candidate.redirects) == (0, 1)

    run(scenario)


def test_a_page_is_asked_for_as_it_was_first_written(run: Run) -> None:
    """Whoever finds it later, by a shorter way or spelled otherwise, and in later runs."""

    def spelled(path: str, address: str, depth: int) -> Judged:
        written = f"https://a.test{address}" if address else ""
        return Judged(Candidate(f"https://a.test{path}", Hop.LINK, Kind.PAGE, depth, address=written))

    async def scenario(store: Store) -> None:
        await store.add([spelled("/", "", 0)])
        [lease] = await store.lease(1, 0.0)
        await finish(store, lease, CAPTURED, found=(spelled("/1", "/1/", 2), spelled("/2", "", 2)))
        await store.add([spelled("/1", "", 1), spelled("/2", "/2/", 1)])
        first, second = await store.lease(9, 1.0)
        assert (first.url, first.target) == ("https://a.test/1", "https://a.test/1/")
        assert second.target == second.url
        record = await store.record(first.url)
        assert record is not None
        assert record.target == first.target
        await finish(store, first, CAPTURED)
        await store.settle([Deferral(second, 1.0, 1.0, address="https://a.test/2/")])
        await store.requeue([first.url], 2.0)
        assert {lease.target for lease in await store.lease(9, 3.0)} == {
            "https://a.test/1/",
            "https://a.test/2/",
        }

    run(scenario)


def test_the_other_spelling_of_an_address_may_be_the_identity(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([Judged(Candidate("https://a.test/1", address="https://a.test/1/"))])
        [lease] = await store.lease(1, 0.0)
        await store.settle([Deferral(lease, 0.0, 0.0, address="https://a.test/1")])
        [again] = await store.lease(1, 1.0)
        assert (again.target, again.candidate.address) == ("https://a.test/1", "")

    run(scenario)


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

    run(scenario, FrontierPolicy(PacingPolicy(delay=0.0, manifest_delay=0.0, circuit_failures=2)))


def test_the_page_cap_is_reserved_when_leasing(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page(f"/{n}") for n in range(9)])
        leases = await store.lease(9, 0.0)
        assert len(leases) == 3
        await finish(store, leases[0], Verdict(Outcome.NOT_FOUND))  # frees its place
        [fourth] = await store.lease(9, 0.0)
        for lease in (*leases[1:], fourth):
            await finish(store, lease)
        assert await store.lease(9, 0.0) == []
        stats = await store.stats()
        assert (stats.captured, stats.pending) == (3, 5)

    run(scenario, FrontierPolicy(pacing=UNPACED, max_pages=3))


def test_a_requeued_url_is_fetched_and_counted_once_more(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1")])
        [lease] = await store.lease(1, 0.0)
        await finish(store, lease)
        assert await store.requeue([lease.url, "https://nobody.test/"], 5.0) == 1
        stats = await store.stats()
        assert (stats.known, stats.pending, stats.captured, stats.outcomes) == (1, 1, 0, {})
        [again] = await store.lease(1, 6.0)
        await finish(store, again)
        assert (await store.stats()).outcomes == {Outcome.CAPTURED: 1}

    run(scenario)


def test_the_ledger_tells_what_became_of_each_url(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1", 2), refused("/no", Outcome.EXCLUDED)])
        [lease] = await store.lease(1, 0.0)
        await finish(store, lease, facts=PageFacts(status=200, title="One", path="a.test/1/index.md"))
        record = await store.record(lease.url)
        assert record is not None
        assert (record.outcome, record.rule, record.at, record.depth) == (
            Outcome.CAPTURED,
            "HTTP 200",
            1.0,
            2,
        )
        assert record.facts.title == "One"
        assert [r.url async for r in store.records()] == ["https://a.test/1", "https://a.test/no"]
        assert [r.url async for r in store.records([Outcome.EXCLUDED])] == ["https://a.test/no"]
        assert await store.record("https://a.test/unknown") is None

    run(scenario)


def test_what_waits_again_is_told_from_what_waits_for_its_first_visit(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page(f"/{number}") for number in range(4)])
        for lease in await store.lease(2, 0.0):
            path = f"a.test{urlsplit(lease.url).path}/index.md"
            await finish(store, lease, facts=PageFacts(status=200, path=path))
        assert [r.url async for r in store.waiting_again()] == []
        done = [r.url async for r in store.records([Outcome.CAPTURED])]
        await store.requeue(done[:1], 2.0)
        [again] = [r async for r in store.waiting_again()]
        assert (again.url, again.outcome) == (done[0], Outcome.PENDING)
        assert again.facts.path == f"a.test{urlsplit(done[0]).path}/index.md"

    run(scenario)


def test_every_try_is_remembered(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1")])
        [lease] = await store.lease(1, 0.0)
        await store.release_host(lease, HostReport(reached=0.0, latency=0.0, ok=False))
        await store.settle([Deferral(lease, 3.0, 4.0, why=Verdict(Outcome.TIMED_OUT, "slow"))])
        [again] = await store.lease(1, 5.0)
        await finish(store, again)
        history = await store.history(lease.url)
        assert [(a.at, a.outcome, a.rule) for a in history] == [
            (3.0, Outcome.TIMED_OUT, "slow"),
            (1.0, Outcome.CAPTURED, "HTTP 200"),
        ]
        assert await store.history("https://a.test/unknown") == []

    run(scenario)


def test_new_limits_hold_from_the_moment_they_are_set(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1"), page("/2"), page("/3")])
        assert await store.lease(9, 99.0) == []  # a hundred seconds from the opening
        await store.retune(FrontierPolicy(pacing=PacingPolicy(delay=100.0, per_host=2)))
        [first] = await store.lease(9, 100.0)
        assert await store.lease(9, 150.0) == []
        await store.release_host(first, HostReport(reached=100.0, latency=0.0))
        await store.retune(FrontierPolicy(pacing=PacingPolicy(delay=1.0)))
        assert len(await store.lease(9, 200.0)) == 1

    run(scenario, FrontierPolicy(pacing=PacingPolicy(delay=100.0)))


def test_notes_and_robots_are_kept(run: Run) -> None:
    async def scenario(store: Store) -> None:
        record = RobotsRecord("https://a.test", 200, b"User-agent: *\n\xff", 12.5)
        await store.put_robots(record)
        await store.put_note("started", "yesterday")
        assert await store.get_robots("https://a.test") == record
        assert await store.get_robots("https://b.test") is None
        assert await store.get_note("started") == "yesterday"
        assert await store.get_note("ended") is None

    run(scenario)


def test_amended_facts_replace_those_of_settled_pages_and_nothing_else(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/done"), page("/waiting")])
        [lease] = await store.lease(1, 0.0)
        await finish(store, lease, facts=PageFacts(title="before"))
        before = await store.stats()
        facts = {
            f"https://a.test/{name}": PageFacts(title="after") for name in ("done", "waiting", "unknown")
        }
        await store.amend(facts)
        done, waiting = (
            await store.record("https://a.test/done"),
            await store.record("https://a.test/waiting"),
        )
        assert done is not None
        assert (done.outcome, done.facts.title) == (Outcome.CAPTURED, "after")
        assert waiting is not None
        assert waiting.facts.title is None
        assert await store.record("https://a.test/unknown") is None
        assert await store.stats() == before

    run(scenario)


def test_facts_outlive_being_queued_again(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1")])
        [lease] = await store.lease(1, 0.0)
        await finish(store, lease, facts=PageFacts(etag='"x"', path="a/index.md"))
        assert await store.requeue(["https://a.test/1"], 2.0) == 1
        record = await store.record("https://a.test/1")
        assert record is not None
        assert (record.outcome, record.facts.etag, record.facts.path) == (
            Outcome.PENDING,
            '"x"',
            "a/index.md",
        )

    run(scenario)


@pytest.fixture(params=sorted(DURABLE))
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Awaitable[Store]]:
    """Open the same durable store again and again."""

    async def open_at(now: float, policy: FrontierPolicy = DEFAULT) -> Store:
        return DURABLE[request.param](tmp_path, policy, now)

    return open_at


def test_reopening_finds_everything_and_frees_what_was_leased(
    reopen: Callable[..., Awaitable[Store]],
) -> None:
    async def scenario() -> None:
        store = await reopen(0.0)
        await store.add([page("/1"), page("/2"), page("/3")])
        first, second, _third = await store.lease(3, 0.0)
        await finish(store, first, found=(page("/4", 1),), facts=PageFacts(title="One"))
        await store.release_host(second, HostReport(reached=0.0, latency=0.0))
        await store.settle([Deferral(second, 0.0, 50.0, why=Verdict(Outcome.TIMED_OUT, "slow"))])
        before = await store.stats()
        await store.aclose()

        store = await reopen(100.0)
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


def test_politeness_outlives_the_process(reopen: Callable[..., Awaitable[Store]]) -> None:
    policy = FrontierPolicy(pacing=PacingPolicy(delay=1.0, manifest_delay=1.0))

    async def scenario() -> None:
        store = await reopen(0.0, policy)
        await store.add([page("/1"), page("/2"), page("/1", host="b.test"), page("/2", host="b.test")])
        for lease in await store.lease(9, 1.0):
            crawl_delay = 20.0 if lease.host == "a.test" else None
            throttled = lease.host == "b.test"
            report = HostReport(1.0, 0.0, throttled=throttled, retry_after=200.0, crawl_delay=crawl_delay)
            await store.release_host(lease, report)
        await store.sync(nothing_to_sync)
        await store.aclose()

        store = await reopen(2.0, policy)
        assert await store.lease(9, 21.0) == []  # a full Crawl-delay from the moment of opening
        assert {lease.host for lease in await store.lease(9, 22.0)} == {"a.test"}
        assert await store.lease(9, 200.0) == []
        assert {lease.host for lease in await store.lease(9, 201.0)} == {"b.test"}
        await store.aclose()

    asyncio.run(scenario())
