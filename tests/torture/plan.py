"""Which calls fail, how, and in what situation; and one try of each."""

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.site import running_site
from tests.torture.harness import Bench, Ended
from tests.torture.trace import CHANGES, SYNCS, Moment, Traced

# The fewest with two that want one name for their files, so that there is renaming at the end.
PAGES, SEED = 39, 3

# Not at a sync: a kill takes nothing back that was written, so it leaves what one at the next change leaves.
KILLS = {"signal=KILL": CHANGES}
ERRORS = {
    "error=ENOSPC": ("write", "pwrite64", "mkdir", "mkdirat", "openat", "rename", "renameat"),
    "error=EDQUOT": ("write", "mkdirat"),
    "error=EIO": SYNCS,
}
# Of moments that are alike: the first, the last, and one amid them. A quota is taken for a full disk.
OF_EACH = {"error=EDQUOT": 1}
OF_EACH_OTHERWISE = 3


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


class Attempt(NamedTuple):
    wrong: list[str]
    struck: (
        bool  # the run ended by the fault; it may have had fewer calls this time, or done without that one
    )


@dataclass(frozen=True)
class Situation:
    """What a run finds when it starts, and what it was seen to do then."""

    name: str
    bench: Bench
    traced: Traced
    begun: Path | None  # an output folder to go on with

    def attempt(self, injection: Injection) -> Attempt:
        """One fault, and the run after it: what was violated."""
        bench = self.bench
        with bench.tried(self.begun) as output:
            fault = f"{injection.fault}:when={injection.when}"
            ended = bench.inject(output, self.traced.paths, injection.call, fault)
            wrong = [] if injection.is_kill else unclean_end(ended)
            wrong += bench.violations(output, kills=1 if self.begun is None else 2)
            return Attempt(wrong, ended.code not in (0, 1))

    def injections(self, faults: dict[str, tuple[str, ...]], *, every: bool = True) -> list[Injection]:
        """Every call that changed something, with every fault that it may meet; or some of those alike."""
        found: dict[Injection, None] = {}
        for fault, calls in faults.items():
            moments = [moment for moment in self.traced.moments if moment.call in calls]
            chosen = moments if every else _some_of_each(moments, OF_EACH.get(fault, OF_EACH_OTHERWISE))
            found.update(dict.fromkeys(Injection(one.call, fault, one.when) for one in chosen))
        return list(found)


def _some_of_each(moments: list[Moment], count: int) -> list[Moment]:
    alike: dict[tuple[str, str, str], list[Moment]] = {}
    for moment in moments:
        alike.setdefault(moment.likeness, []).append(moment)
    return [one for group in alike.values() for one in _spread(group, count)]


def _spread(group: list[Moment], count: int) -> list[Moment]:
    if len(group) <= count:
        return group
    last = len(group) - 1
    return [group[last * number // max(count - 1, 1)] for number in range(count)]


@contextmanager
def situations(folder: Path, state: tuple[str, ...]) -> Iterator[list[Situation]]:
    """A first run, the same with strict durability, and one that goes on after a kill that tore a write."""
    with running_site(pages=PAGES, seed=SEED) as site:
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
        output, traced.paths, "renameat", f"signal=KILL:when={traced.count('renameat') // 2}"
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
    if ended.code not in (2, 3, 4, 5, 6, 7, 8) or len(ended.complaints) != 1:
        return [f"ended with {ended.code} and {len(ended.complaints)} sentences: {ended.error.strip()}"]
    return []


def _traced(bench: Bench, begun: Path | None = None) -> Traced:
    with bench.tried(begun) as output:
        return bench.trace(output)
