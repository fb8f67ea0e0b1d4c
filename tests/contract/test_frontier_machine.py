"""Whatever is done in whatever order, every backend answers as the in-memory specification does."""

import asyncio
import tempfile
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sumi.model import Candidate, Hop, Kind, Lease, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Deferral, HostReport, Judged, RobotsRecord, Settlement
from sumi.state.memory import MemoryStore
from tests.contract.backends import DURABLE, SERVED, TOLD_OF_LINKS, Store, nothing_to_sync
from tests.thoroughness import usually

T = TypeVar("T")
Pair = tuple[Lease, Lease]  # the model's and the store's; their tokens may differ

HOSTS = ("a.test", "b.test:8080", "c.test")
LONG = f"/{0:0600}"
# One is longer than the longest key of LMDB, one has letters that take more than a byte.
PATHS = ("/", "/1", "/2", "/3", "/4", LONG, "/\u00fc\u4e2d", "/?q=1")
SITEMAPS = ("/4", "/?q=1")
REFUSALS = (Outcome.TOO_DEEP, Outcome.UNLISTED, Outcome.OUT_OF_SCOPE)
ENDINGS = (Outcome.CAPTURED, Outcome.UNCHANGED, Outcome.NOT_FOUND, Outcome.TIMED_OUT, Outcome.READ)
AMPLE = 1000

pacings = st.builds(
    PacingPolicy,
    delay=st.sampled_from([0.0, 1.0]),
    sitemap_delay=st.sampled_from([0.0, 2.0]),
    per_host=st.sampled_from([1, 3]),
    circuit_failures=st.sampled_from([0, 2]),
    host_budget=st.sampled_from([0, 6]),
)
seconds = st.sampled_from([0.0, 0.5, 5.0])
numbers = st.integers(0, 7)


@st.composite
def judged(draw: st.DrawFn) -> Judged:
    refusal = draw(st.none() | st.none() | st.builds(Verdict, st.sampled_from(REFUSALS), st.just("a rule")))
    path = draw(st.sampled_from(PATHS))
    candidate = Candidate(
        f"https://{draw(st.sampled_from(HOSTS))}{path}",
        draw(st.sampled_from([Hop.LINK, Hop.MANIFEST, Hop.SEED])),
        Kind.SITEMAP if path in SITEMAPS else Kind.PAGE,
        draw(st.integers(0, 3)),
        draw(st.sampled_from([None, "https://a.test/"])),
        draw(st.sampled_from([0.0, 0.0, -1.5, 2.0])),
    )
    return Judged(candidate, refusal)


findings = st.lists(judged(), max_size=6)


class Ending(NamedTuple):
    """How a lease ends: for good, or to wait."""

    verdict: Verdict
    facts: PageFacts
    wait: float | None
    address: str
    found: list[Judged]

    def unit(self, lease: Lease, now: float, found: tuple[Judged, ...]) -> Settlement | Deferral:
        if self.wait is None:
            return Settlement(lease, self.verdict, now, self.facts, found)
        why = None if self.verdict.outcome is Outcome.CAPTURED else self.verdict
        return Deferral(lease, now, now + self.wait, why, self.address, found)


endings = st.builds(
    Ending,
    st.builds(Verdict, st.sampled_from(ENDINGS), st.sampled_from(["", "HTTP 200"])),
    st.builds(PageFacts, status=st.sampled_from([None, 200]), title=st.sampled_from([None, "\u00dcber"])),
    st.none() | seconds,
    st.sampled_from(["", "https://a.test/elsewhere"]),
    findings,
)


class FrontierMachine(RuleBasedStateMachine):
    backend: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.now = 0.0
        self.leases: list[Pair] = []  # also those that are void by now
        self.known: set[str] = set()
        self.deferred = False
        # Two things show only in when the model expects to have work, and neither is promised: it remembers
        # a moved URL's former place, and does not write down that a delayed URL has come back.
        self.exact = True

    @initialize(
        capped=st.booleans(),
        sitemaps_first=st.booleans(),
        pacing=pacings,
        items=st.lists(judged(), min_size=4, max_size=12),
    )
    def open(self, capped: bool, sitemaps_first: bool, pacing: PacingPolicy, items: list[Judged]) -> None:
        # Which of several hosts gets the last place under a cap is nobody's promise, so then there is one.
        self.hosts = HOSTS[:1] if capped else HOSTS
        pacing = self.comparable(pacing)
        self.policy = FrontierPolicy(pacing, 3 if capped else 0, sitemaps_first, lease_seconds=60.0)
        self.model = MemoryStore(self.policy, self.now)
        self.store = self.opened()
        self.add(items)

    def opened(self) -> Store:
        return {**DURABLE, **SERVED}[self.backend](Path(self.folder.name), self.policy, self.now)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.compare_ledgers()
            self.run(self.store.aclose())
        self.runner.close()
        self.folder.cleanup()

    # ── what a crawl does ──────────────────────────────────────────────────────────────────────────────

    @rule(items=findings)
    def add(self, items: list[Judged]) -> None:
        items = self.of_our_hosts(items)
        self.note_findings(items)
        assert self.run(self.store.add(items)) == self.run(self.model.add(items))

    @rule(items=findings, depth=st.integers(0, 3), hop=st.sampled_from([Hop.LINK, Hop.MANIFEST]))
    def unseen(self, items: list[Judged], depth: int, hop: Hop) -> None:
        urls = [item.candidate.url for item in items]
        ours = self.run(self.store.unseen(urls, depth, hop))
        if self.backend in TOLD_OF_LINKS:
            assert ours == [url for url in urls if self.run(self.model.record(url)) is None]
        else:
            assert ours == self.run(self.model.unseen(urls, depth, hop))

    @rule(after=st.sampled_from([0.0, 1.0, 3.0, 70.0]), limit=st.integers(1, 4))
    def lease(self, after: float, limit: int) -> None:
        self.now += after
        limit = limit if len(self.hosts) == 1 else AMPLE
        ours = self.by_host(self.run(self.store.lease(limit, self.now)))
        theirs = self.by_host(self.run(self.model.lease(limit, self.now)))
        assert ours.keys() == theirs.keys()
        for host, leases in theirs.items():
            assert [without_token(lease) for lease in ours[host]] == [
                without_token(lease) for lease in leases
            ]
            self.leases += zip(leases, ours[host], strict=True)

    @precondition(lambda self: self.leases)
    @rule(number=numbers, used=st.booleans(), latency=seconds, ok=st.booleans(), throttled=st.booleans())
    def release_host(self, number: int, used: bool, latency: float, ok: bool, throttled: bool) -> None:
        model_lease, store_lease = self.pick(number)
        retry_after = latency * 10 or None
        crawl_delay = 3.0 if latency == 5.0 else None
        report = HostReport(self.now, latency, ok, throttled, retry_after, crawl_delay) if used else None
        self.run(self.store.release_host(store_lease, report))
        self.run(self.model.release_host(model_lease, report))

    @precondition(lambda self: self.leases)
    @rule(chosen=st.lists(numbers, min_size=1, max_size=4), ends=st.lists(endings, min_size=4, max_size=4))
    def settle(self, chosen: list[int], ends: list[Ending]) -> None:
        ours: list[Settlement | Deferral] = []
        theirs: list[Settlement | Deferral] = []
        for number, ending in zip(chosen, ends, strict=False):
            model_lease, store_lease = self.pick(number)
            found = tuple(found_on(model_lease.url, item) for item in self.of_our_hosts(ending.found))
            self.note_findings(found)
            theirs.append(ending.unit(model_lease, self.now, found))
            ours.append(ending.unit(store_lease, self.now, found))
        self.deferred |= any(ending.wait is not None for ending in ends)
        assert self.run(self.store.settle(ours)) == self.run(self.model.settle(theirs))

    @rule(after=st.sampled_from([1.0, 3.0, 70.0]), ends=st.lists(endings, min_size=4, max_size=4))
    def visit(self, after: float, ends: list[Ending]) -> None:
        """As a crawl does: lease, ask, settle; and at once again, for what was put off no longer."""
        for _ in range(2):
            before = len(self.leases)
            self.lease(after, 4)
            fresh = len(self.leases) - before
            for number in range(fresh):
                self.release_host(number, used=True, latency=0.0, ok=True, throttled=False)
            if fresh:
                self.settle([*range(min(fresh, 4))], ends)

    @precondition(lambda self: self.leases)
    @rule(number=numbers)
    def renew(self, number: int) -> None:
        theirs, ours = self.pick(number)
        assert self.run(self.store.renew([ours], self.now)) == self.run(self.model.renew([theirs], self.now))

    @rule(chosen=st.lists(numbers, max_size=5), title=st.text(max_size=5))
    def amend(self, chosen: list[int], title: str) -> None:
        known = sorted(self.known)
        urls = ["https://nobody.test/", *(known[number % len(known)] for number in chosen if known)]
        facts = {url: PageFacts(title=title) for url in urls}
        self.run(self.store.amend(facts))
        self.run(self.model.amend(facts))

    @precondition(lambda self: self.known)
    @rule(chosen=st.lists(numbers, max_size=5))
    def requeue(self, chosen: list[int]) -> None:
        known = sorted(self.known)
        urls = ["https://nobody.test/", *(known[number % len(known)] for number in chosen)]
        assert self.run(self.store.requeue(urls, self.now)) == self.run(self.model.requeue(urls, self.now))

    @rule(
        host=st.sampled_from(HOSTS),
        wait=seconds,
        pacing=pacings,
        text=st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    )
    def direct(self, host: str, wait: float, pacing: PacingPolicy, text: str) -> None:
        """What comes from outside the crawl: a host is held, limits change, something is noted."""
        cap, sitemaps_first = self.policy.max_pages, self.policy.sitemaps_first
        self.policy = FrontierPolicy(self.comparable(pacing), cap, sitemaps_first, lease_seconds=60.0)
        record = RobotsRecord(f"https://{host}", 200, text.encode(), self.now)
        for store in (self.store, self.model):
            self.run(store.hold_host(host, self.now + wait, "told to"))
            self.run(store.retune(self.policy))
            self.run(store.put_note(host, text))
            self.run(store.put_robots(record))

    @rule(synced=st.booleans())
    def reopen(self, synced: bool) -> None:
        if synced:
            self.run(self.store.sync(nothing_to_sync))
        self.compare_ledgers()
        self.run(self.store.aclose())
        self.store = self.opened()
        self.model = self.run(reopened(self.model, self.policy, self.now))
        self.leases = []
        self.exact = self.exact and not self.deferred
        self.compare_ledgers()

    # ── what can be seen of it ─────────────────────────────────────────────────────────────────────────

    @invariant()
    def the_counts_agree_and_add_up(self) -> None:
        ours = self.run(self.store.stats())
        assert ours == self.run(self.model.stats())
        assert sum(ours.outcomes.values()) + ours.pending == ours.known

    def compare_ledgers(self) -> None:
        ours, theirs = self.run(everything_in(self.store)), self.run(everything_in(self.model))
        assert ours == theirs

    @invariant()
    def the_hosts_wait_alike(self) -> None:
        ours = {wait.host: wait for wait in self.run(self.store.waiting_hosts(self.now))}
        theirs = {wait.host: wait for wait in self.run(self.model.waiting_hosts(self.now))}
        counts = {host: (wait.pending, wait.in_flight) for host, wait in ours.items()}
        assert counts == {host: (wait.pending, wait.in_flight) for host, wait in theirs.items()}
        if self.exact:
            assert ours == theirs
            ours_at, theirs_at = (self.run(one.next_ready(self.now)) for one in (self.store, self.model))
            # Under a limit, others could give pages back: a worker with nothing to do looks again.
            looks_again = self.backend in SERVED and self.policy.max_pages and theirs_at is None
            assert looks_again or ours_at == theirs_at

    # ── means ──────────────────────────────────────────────────────────────────────────────────────────

    def comparable(self, pacing: PacingPolicy) -> PacingPolicy:
        """The budget of a map is that of a run, however often it is taken up; elsewhere of a process."""
        return msgspec.structs.replace(pacing, host_budget=0) if self.backend in TOLD_OF_LINKS else pacing

    def pick(self, number: int) -> Pair:
        return self.leases[-1 - number % len(self.leases)]

    def of_our_hosts(self, items: list[Judged]) -> list[Judged]:
        return [item for item in items if item.candidate.url.split("/")[2] in self.hosts]

    def note_findings(self, items: Sequence[Judged]) -> None:
        urls = [item.candidate.url for item in items]
        if len(set(urls)) < len(urls) or not self.known.isdisjoint(urls):
            self.exact = False
        self.known.update(urls)

    @staticmethod
    def by_host(leases: list[Lease]) -> dict[str, list[Lease]]:
        hosts: dict[str, list[Lease]] = {}
        for lease in leases:
            hosts.setdefault(lease.host, []).append(lease)
        return hosts


def found_on(url: str, item: Judged) -> Judged:
    return Judged(msgspec.structs.replace(item.candidate, referrer=url), item.refusal)


def without_token(lease: Lease) -> tuple[object, ...]:
    return (lease.candidate, lease.deadline, lease.attempt)


async def reopened(old: MemoryStore, policy: FrontierPolicy, now: float) -> MemoryStore:
    """What a durable store is after its process died: everything as it was, but nobody holds a lease."""
    new = MemoryStore(policy, now)
    await new.restore([item async for item in old.export()])
    # Counted when it was listed, however it was found again since.
    new.machine.counts.listed = old.machine.counts.listed
    return new


async def everything_in(store: Store | MemoryStore) -> list[object]:
    records = [record async for record in store.records()]
    failures = [record.url async for record in store.records([Outcome.TIMED_OUT, Outcome.PENDING])]
    again = [record async for record in store.waiting_again()]
    histories = [await store.history(record.url) for record in records]
    single = [await store.record(record.url) for record in records[-1:]]
    notes = [await store.get_note(key) for key in (*HOSTS, "nobody")]
    robots = [await store.get_robots(f"https://{key}") for key in (*HOSTS, "nobody")]
    return [records, failures, again, histories, single, notes, robots]


@pytest.mark.parametrize("backend", sorted({**DURABLE, **SERVED}))
def test_a_backend_answers_as_the_specification_does(backend: str) -> None:
    run_state_machine_as_test(
        type("Machine", (FrontierMachine,), {"backend": backend}),
        settings=settings(
            max_examples=usually(3 if backend in SERVED else 8, 50),
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
