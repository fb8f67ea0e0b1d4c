"""A mirror on the disk, driven as the engine does it: output first, then the settlement, then the logs."""

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import yaml

from sumi.jobs.mirror.output import MarkdownTree
from sumi.model import Candidate, Hop, Kind, Lease, PageFacts, Response, Timing
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Judged, Output, Settlement
from sumi.state.memory import MemoryStore

T = TypeVar("T")

HOME = "example.com"
SITE = "https://example.com/"
NOON = 1_767_441_600.0  # 2026-01-03T12:00:00Z
CANARY = "\x1b[31m\r\n\t\u202e|](x) <b>`*_\\\x9b\ud800"
MANY = 1000


class FakeClock:
    def __init__(self) -> None:
        self.time = NOON

    def now(self) -> float:
        return self.time

    async def sleep_until(self, when: float) -> None:
        self.time = max(self.time, when)

    async def wait(self, event: asyncio.Event, until: float) -> None:
        event.set()


class StoredMirror:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / HOME
        self.store = MemoryStore(FrontierPolicy(PacingPolicy(0.0, 0.0, per_host=MANY)), NOON)
        self.clock = FakeClock()
        self.tree = self.reopened()
        self._leases: dict[str, Lease] = {}

    def reopened(self) -> MarkdownTree:
        self.tree = MarkdownTree(self.root, HOME, SITE, self.clock)
        run(self.tree.load(self.store))
        return self.tree

    def accept(self, url: str, markdown: str = "text\n", **meta: Any) -> PageFacts:
        """A page that is written, and neither settled nor logged."""
        output: Output = self.tree
        return run(output.accept(lease(url), response(), PageDigest([], markdown=markdown, **meta)))

    def capture(self, url: str, markdown: str = "text\n", **meta: Any) -> PageFacts:
        facts = self.accept(url, markdown, **meta)
        self.settle(url, Outcome.CAPTURED, facts=facts)
        self.log(url, Outcome.CAPTURED, facts=facts)
        return facts

    def end(self, url: str, outcome: Outcome, rule: str = "") -> None:
        run(self.tree.note_ending(lease(url), Verdict(outcome, rule), NOON))
        self.settle(url, outcome, rule)
        self.log(url, outcome, rule)

    def log(self, url: str, outcome: Outcome, rule: str = "", facts: PageFacts | None = None) -> None:
        run(self.tree.settled(lease(url), Verdict(outcome, rule), NOON, facts or PageFacts()))

    def settle(
        self,
        url: str,
        outcome: Outcome,
        rule: str = "",
        facts: PageFacts | None = None,
        kind: Kind = Kind.PAGE,
    ) -> None:
        """A second later with every URL; again if it had ended before."""
        at = NOON + run(self.store.stats()).known
        self.discover(url, kind)
        self.requeue(url)
        self._leases.update({each.url: each for each in run(self.store.lease(MANY, NOON))})
        held = self._leases.pop(url)
        unit = Settlement(held, Verdict(outcome, rule), at, facts or PageFacts())
        assert run(self.store.settle([unit])) == [True]

    def discover(self, url: str, kind: Kind = Kind.PAGE) -> None:
        run(self.store.add([Judged(Candidate(url, Hop.LINK, kind, 1, SITE))]))

    def requeue(self, url: str) -> None:
        run(self.store.requeue([url], NOON))

    def finish(self) -> dict[str, Any]:
        run(self.tree.finish(self.store, run(self.store.stats())))
        return self.json("_manifest.json")

    def json(self, name: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.home / name).read_bytes())
        return content

    def lines(self, name: str) -> list[str]:
        """As a script would read them: by newline and nothing else."""
        return (self.home / name).read_bytes().decode().split("\n")[:-1]

    def page_files(self) -> set[str]:
        return {str(path.relative_to(self.root)) for path in self.root.rglob("index.md")}


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def lease(url: str) -> Lease:
    return Lease(Candidate(url), "example.com", token=1, deadline=NOON + 60)


def response(*headers: tuple[str, str]) -> Response:
    timing = Timing(NOON - 2, NOON - 1.75, NOON)
    return Response(SITE, 200, (("content-type", "text/html"), *headers), b"<html>", timing)


def split_page(content: str) -> tuple[dict[str, Any], str]:
    """Front matter and body."""
    _, head, body = content.split("---\n", 2)
    fields: dict[str, Any] = yaml.safe_load(head)
    return fields, body.removeprefix("\n")
