"""Which calls fail, how, and in what situation; and one try of each."""

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.site import running_site
from tests.torture.harness import DURABLE_CALLS, SYNCS, Bench, Ended, Traced

KILLS = {"signal=KILL": DURABLE_CALLS}
ERRORS = {
    "error=ENOSPC": ("write", "pwrite64", "mkdir", "mkdirat", "openat", "rename", "renameat"),
    "error=EDQUOT": ("write", "mkdirat"),
    "error=EIO": SYNCS,
}


@dataclass(frozen=True)
class Injection:
    """What happens to the ``when``-th such call of a thread: a fatal signal, or a failure."""

    call: str
    fault: str
    when: int

    @property
    def is_kill(self) -> bool:
        return self.fault.startswith("signal=")

    def __str__(self) -> str:
        return f"{self.call} number {self.when}: {self.fault}"


@dataclass(frozen=True)
class Situation:
    """What a run finds when it starts, and what it was seen to do then."""

    name: str
    bench: Bench
    traced: Traced
    begun: Path | None  # an output folder to go on with

    def attempt(self, injection: Injection) -> list[str]:
        """One fault, and the run after it: what was violated."""
        bench = self.bench
        with bench.tried(self.begun) as output:
            fault = f"{injection.fault}:when={injection.when}"
            ended = bench.inject(output, self.traced.paths, injection.call, fault)
            wrong = [] if injection.is_kill else unclean_end(ended)
            return [*wrong, *bench.violations(output, kills=1 if self.begun is None else 2)]

    def injections(self, faults: dict[str, tuple[str, ...]]) -> list[Injection]:
        """Every call that was seen, with every fault that it may meet."""
        return [
            Injection(call, fault, when)
            for fault, calls in faults.items()
            for call in calls
            for when in range(1, self.traced.calls[call] + 1)
        ]


@contextmanager
def situations(folder: Path, state: tuple[str, ...]) -> Iterator[list[Situation]]:
    """A first run, the same with strict durability, and one that goes on after a kill that tore a write."""
    with running_site(pages=30, seed=1) as site:
        batch = Bench(site, folder, state)
        strict = Bench(site, folder / "strict", (*state, "--durability", "strict"))
        strict.folder.mkdir()
        begun = half_done(batch)
        yield [
            Situation("first run", batch, _traced(batch), None),
            Situation("strict", strict, _traced(strict), None),
            Situation("going on", batch, _traced(batch, begun), begun),
        ]


def half_done(bench: Bench) -> Path:
    """An output folder that a kill left in the midst of the work, with half a record at the journal's end."""
    output = bench.output()
    traced = _traced(bench)
    ended = bench.inject(
        output, traced.paths, "renameat", f"signal=KILL:when={traced.calls['renameat'] // 2}"
    )
    assert ended.code == -9, ended.error
    for journal in bench.home(output).glob(".sumi/journal-*.log"):
        with journal.open("ab") as file:
            file.write(b'000001f3 0badc0de {"type":"end","url":"http://127.0.0.1')
    return output


def sampled(population: list[Injection], count: int, seed: int) -> list[Injection]:
    """Some of each call and fault in turn, so that rare calls are not drowned by writes."""
    chance = random.Random(seed)
    by_kind: dict[tuple[str, str], list[Injection]] = {}
    for injection in population:
        by_kind.setdefault((injection.call, injection.fault), []).append(injection)
    for kind in by_kind.values():
        chance.shuffle(kind)
    rounds = itertools.zip_longest(*by_kind.values())
    return [injection for one_of_each in rounds for injection in one_of_each if injection][:count]


def unclean_end(ended: Ended) -> list[str]:
    """A failing disk ends a run with one sentence, unless the call did not matter."""
    if "Traceback" in ended.error:
        return [f"a traceback: {' '.join(ended.error.strip().splitlines()[-2:])}"]
    if ended.code in (0, 1):
        return []
    if ended.code not in (2, 3, 4) or len(ended.complaints) != 1:
        return [f"ended with {ended.code} and {len(ended.complaints)} sentences: {ended.error.strip()}"]
    return []


def _traced(bench: Bench, begun: Path | None = None) -> Traced:
    with bench.tried(begun) as output:
        return bench.trace(output)
