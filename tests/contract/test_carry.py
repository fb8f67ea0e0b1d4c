"""A store carried into another one is the same store: same records, histories, queue and politeness."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sumi.errors import StateError
from sumi.model import Candidate, Hop, Kind, Lease, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Deferral, Judged, RobotsRecord, Settlement
from sumi.state.database.store import DatabaseStore
from sumi.state.journal import FilesStore
from sumi.state.lmdb import LmdbStore
from sumi.state.memory import MemoryStore
from sumi.state.migrate import copy_all, migrate
from sumi.state.sqlite import SqliteStore

NOW = 1000.0
POLICY = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=100, circuit_failures=0))
Store = MemoryStore | DatabaseStore
Open = Callable[[Path], Store]

BACKENDS: dict[str, Open] = {
    "memory": lambda _: MemoryStore(POLICY, NOW),
    "files": lambda folder: FilesStore(folder, POLICY, NOW),
    "sqlite": lambda folder: SqliteStore(folder, POLICY, NOW),
    "lmdb": lambda folder: LmdbStore(folder, POLICY, NOW),
}
DURABLE = [name for name in BACKENDS if name != "memory"]

VERDICTS = st.sampled_from(
    [
        Verdict(Outcome.CAPTURED),
        Verdict(Outcome.NOT_FOUND, "HTTP 404"),
        Verdict(Outcome.REDIRECTED, "HTTP 301"),
        Verdict(Outcome.SERVER_ERROR, "HTTP 500"),
    ]
)
CANDIDATES = st.builds(
    Candidate,
    url=st.builds("http://{}.test/{}".format, st.sampled_from("ab"), st.integers(0, 12)),
    hop=st.sampled_from([Hop.LINK, Hop.MANIFEST, Hop.REDIRECT]),
    kind=st.sampled_from(Kind),
    depth=st.integers(0, 3),
    referrer=st.sampled_from([None, "http://a.test/0"]),
    score=st.sampled_from([0.0, 1.5]),
    address=st.sampled_from(["", "http://a.test/as/written/"]),
)
REFUSALS = st.sampled_from(
    [None, None, Verdict(Outcome.TOO_DEEP, "depth"), Verdict(Outcome.EXCLUDED, "rule")]
)
FINDS = st.lists(st.builds(Judged, CANDIDATES, REFUSALS), max_size=4)
ENDINGS = st.one_of(
    st.tuples(st.just("settle"), VERDICTS, FINDS),
    st.tuples(st.just("retry"), st.sampled_from([NOW, NOW + 50.0]), FINDS),
    st.tuples(st.just("address"), st.just("http://a.test/other"), FINDS),
)
STEPS = st.lists(st.tuples(FINDS, st.lists(ENDINGS, max_size=4), st.booleans()), max_size=5)


def unit(lease: Lease, ending: tuple[str, Any, list[Judged]], at: float) -> Settlement | Deferral:
    kind, detail, found = ending
    if kind == "settle":
        facts = PageFacts(status=200, path=f"x/{lease.token}/index.md", size=3, title="é")
        return Settlement(lease, detail, at, facts, tuple(found))
    if kind == "retry":
        why = Verdict(Outcome.SERVER_ERROR, "HTTP 503")
        return Deferral(lease, at, detail, why, found=tuple(found))
    return Deferral(lease, at, at, address=detail, found=tuple(found))


async def live_through(store: Store, steps: list[Any]) -> None:
    for number, (found, endings, again) in enumerate(steps):
        at = NOW + number
        await store.add(found)
        for lease, ending in zip(await store.lease(len(endings), at), endings, strict=False):
            await store.release_host(lease, None)
            await store.settle([unit(lease, ending, at)])
        if again:
            await store.requeue(["http://a.test/0", "http://b.test/1"], at)
    await store.put_note("key", "value")
    await store.put_robots(RobotsRecord("http://a.test", 200, b"User-agent: *\n\xff", NOW))
    await store.hold_host("b.test", NOW + 30.0, "it asked for a pause")


async def everything(store: Store) -> dict[str, Any]:
    """All that can be seen of a store, the order in which it would hand out its queue included."""
    records = [record async for record in store.records()]
    return {
        "records": records,
        "histories": [await store.history(record.url) for record in records],
        "stats": await store.stats(),
        "robots": await store.get_robots("http://a.test"),
        "note": await store.get_note("key"),
        "now": await drained(store, NOW + 10.0),
        "later": await drained(store, NOW + 1000.0),
    }


async def drained(store: Store, now: float) -> list[tuple[str, str, int, Candidate]]:
    leases = await store.lease(1000, now)
    return sorted(
        ((lease.host, lease.target, lease.attempt, lease.candidate) for lease in leases),
        key=lambda item: item[0],  # each host's own order is what counts
    )


def assert_carried(source: str, target: str, steps: list[Any]) -> None:
    async def scenario(folder: Path) -> None:
        (folder / "old").mkdir()
        (folder / "new").mkdir()
        old, new = BACKENDS[source](folder / "old"), BACKENDS[target](folder / "new")
        await live_through(old, steps)
        known = await copy_all(old, new)
        if target != "memory":
            await new.aclose()
            new = BACKENDS[target](folder / "new")
        before, after = await _compared(old, new)
        assert after == before
        assert known == before["stats"].known
        await old.aclose()
        await new.aclose()

    with TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))


@pytest.mark.parametrize(("source", "target"), [("memory", "files"), ("files", "memory")])
@examples(max_examples=30)
@given(steps=STEPS)
def test_nothing_is_lost_or_changed_on_the_way(source: str, target: str, steps: list[Any]) -> None:
    assert_carried(source, target, steps)


def page(path: str, hop: Hop = Hop.LINK, depth: int = 0, refusal: Verdict | None = None) -> Judged:
    return Judged(Candidate(f"http://{path}", hop, depth=depth, referrer="http://a.test/0"), refusal)


# One of each: done, failed, tried again later, redirected within itself, refused, listed then linked, again.
A_LIFE = [
    (
        [page("a.test/0", Hop.SEED), page("b.test/1"), page("a.test/2"), page("b.test/3"), page("a.test/4")],
        [
            (
                "settle",
                Verdict(Outcome.CAPTURED),
                [page("a.test/5", depth=2), page("a.test/6", Hop.MANIFEST, 2)],
            ),
            ("settle", Verdict(Outcome.NOT_FOUND, "HTTP 404"), []),
            ("retry", NOW + 50.0, [page("b.test/7", depth=9, refusal=Verdict(Outcome.TOO_DEEP, "depth"))]),
            ("address", "http://b.test/3/", [page("a.test/6", depth=1)]),
        ],
        True,
    )
]


@pytest.mark.parametrize("source", sorted(BACKENDS))
@pytest.mark.parametrize("target", sorted(BACKENDS))
def test_a_whole_life_is_carried(source: str, target: str) -> None:
    assert_carried(source, target, A_LIFE)


@pytest.mark.parametrize("source", DURABLE)
@pytest.mark.parametrize("target", DURABLE)
def test_a_migration_is_faithful_or_refused(source: str, target: str, tmp_path: Path) -> None:
    """Never a copy that looks complete and lacks something."""

    async def scenario() -> None:
        (tmp_path / "old").mkdir()
        old = BACKENDS[source](tmp_path / "old")
        await live_through(old, A_LIFE)
        await old.aclose()
        try:
            await migrate(tmp_path / "old", tmp_path / "new", target, NOW)
        except StateError:
            assert not (tmp_path / "new").exists()
            return
        old, new = BACKENDS[source](tmp_path / "old"), BACKENDS[target](tmp_path / "new")
        before, after = await _compared(old, new)
        assert after == before
        await old.aclose()
        await new.aclose()

    asyncio.run(scenario())


async def _compared(old: Store, new: Store) -> tuple[dict[str, Any], dict[str, Any]]:
    # What was leased without an end is not carried as leased: let those leases run out on both sides.
    for store in (old, new):
        await store.lease(0, NOW + 10_000.0)
    return await everything(old), await everything(new)
