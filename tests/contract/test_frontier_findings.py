"""What a finding changes: a URL enters once, and only a better way to it matters later."""

from sumi.model import Candidate, Hop, Kind
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy
from sumi.ports import Judged
from tests.contract.backends import TOLD_OF_LINKS, Store
from tests.contract.cases import UNPACED, Run, finish, page, refused, urls


def known(run: Run, path: str) -> list[str]:
    """What ``unseen`` says of a known URL that a finding could change."""
    return [] if run.backend in TOLD_OF_LINKS else [f"https://a.test{path}"]


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
        assert await store.unseen(["https://a.test/far"], 1, Hop.LINK) == known(run, "/far")
        assert await store.add([page("/far", 1)]) == [True]
        assert urls(await store.lease(10, 0.0)) == ["/far", "/near"]

    run(scenario)


def test_a_url_that_moves_forward_is_leased_once_though_its_place_was_read_before(run: Run) -> None:
    async def scenario(store: Store) -> None:
        await store.add([page(f"/{number}", 3) for number in range(6)])
        assert urls(await store.lease(1, 0.0)) == ["/0"]  # what comes next is read, too
        await store.add([page("/4", 1), page("/2", 2)])
        assert urls(await store.lease(10, 0.0)) == ["/4", "/2", "/1", "/3", "/5"]
        assert await store.lease(10, 0.0) == []

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
        assert await store.unseen(["https://a.test/x"], 2, Hop.LINK) == known(run, "/x")
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
        assert await store.unseen([url, "https://a.test/y"], 0, Hop.MANIFEST) == known(run, "/x")
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


def test_a_shorter_way_to_a_page_does_not_change_how_it_is_spelled(run: Run) -> None:
    def found(depth: int, address: str) -> Judged:
        return Judged(Candidate("https://a.test/1", Hop.LINK, Kind.PAGE, depth, address=address))

    async def scenario(store: Store) -> None:
        await store.add([found(3, "https://a.test/1/")])
        await store.add([found(1, "https://a.test/1?")])
        [lease] = await store.lease(1, 0.0)
        assert (lease.candidate.depth, lease.target) == (1, "https://a.test/1/")

    run(scenario)
