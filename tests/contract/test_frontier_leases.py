"""How leases are given and end: by their holder alone, for good or to wait."""

from sumi.model import Candidate, Hop, Kind
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy
from sumi.ports import Deferral, HostReport, Judged
from tests.contract.backends import Store
from tests.contract.cases import CAPTURED, UNPACED, Run, finish, page, put_back, urls


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
        await store.settle([Deferral(lease, 0.0, 0.0, address="https://a.test/1/")])
        [again] = await store.lease(1, 1.0)
        assert (again.url, again.target) == ("https://a.test/1", "https://a.test/1/")
        assert (again.attempt, again.candidate.redirects) == (0, 0)

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


def test_a_requeued_url_has_all_its_tries_again(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page("/1")])
        for attempt in (0, 1):
            [lease] = await store.lease(1, 0.0)
            assert lease.attempt == attempt
            await put_back(store, lease, at=0.0, not_before=0.0)
        [last] = await store.lease(1, 0.0)
        await finish(store, last, Verdict(Outcome.SERVER_ERROR))
        assert await store.requeue([last.url], 5.0) == 1
        [again] = await store.lease(1, 10.0)
        assert (again.url, again.attempt) == (last.url, 0)

    run(scenario)


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


def test_retries_are_leased_one_by_one_while_others_of_their_host_are_held(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page(f"/{number}") for number in range(5)])
        for lease in await store.lease(5, 0.0):
            await put_back(store, lease, at=0.0, not_before=10.0)
        again = [urls(await store.lease(1, 10.0)) for _ in range(5)]
        assert sorted(again) == [[f"/{number}"] for number in range(5)]

    run(scenario)
