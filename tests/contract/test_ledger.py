"""What a store tells of each URL: its record, its history, notes and robots.txt."""

from urllib.parse import urlsplit

from sumi.model import PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.ports import Deferral, HostReport, RobotsRecord
from tests.contract.backends import Store
from tests.contract.cases import Run, finish, page, refused


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
