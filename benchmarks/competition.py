"""Contenders take turns at one job, so that whatever else the machine does falls on all alike."""

import os
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.measuring import Cost, run_measured
from benchmarks.outputs import Outputs
from benchmarks.peers.contenders import OURS, SUMI, Contender, Task
from benchmarks.peers.environments import Environment, Missing, environment

SHORTEST_SECONDS: Final = 0.01  # that a run can have taken: file systems' clocks lag behind a little


class Run(NamedTuple):
    cost: Cost
    pages: int  # of the truth
    strange: int  # kept, and not of the truth

    @property
    def rate(self) -> float:
        return self.pages / self.cost.wall_seconds


class Standing(NamedTuple):
    """How one contender did, over all rounds."""

    name: str
    versions: str
    runs: tuple[Run, ...]
    ratios: tuple[float, ...]  # Sumi's pages a second by this one's, round by round
    trouble: str = ""  # why a run is missing, or all of them

    @property
    def rate(self) -> float:
        return statistics.median(run.rate for run in self.runs)

    @property
    def cpu_ms(self) -> float:
        return statistics.median(1000 * run.cost.cpu_seconds / max(run.pages, 1) for run in self.runs)

    @property
    def peak_mb(self) -> float:
        return max(run.cost.tree_mb for run in self.runs)

    @property
    def pages(self) -> int:
        return min(run.pages for run in self.runs)

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    @property
    def cut(self) -> bool:
        return any(run.cost.cut for run in self.runs)


class Course(NamedTuple):
    """The job as all of them get it."""

    origin: str
    truth: frozenset[str]
    pages: int
    rounds: int
    limit_seconds: float  # of a run; who needs longer runs once
    patience_seconds: float  # with that one run: who is cut has met other pages than who is not
    place: Path  # of the environments
    outputs: Outputs


def compete(job: str, contenders: Sequence[Contender], course: Course) -> list[Standing]:
    """The first contender is Sumi, and whom the others are measured against."""
    places = {each.name: _environment(each, course.place) for each in contenders}
    trouble = {name: place.reason for name, place in places.items() if isinstance(place, Missing)}
    runs: dict[str, dict[int, Run]] = {each.name: {} for each in contenders}
    for number, contender in _turns(contenders, course.rounds):
        place = places[contender.name]
        if isinstance(place, Missing) or _has_had_its_run(contender, runs[contender.name], course):
            continue
        _tell(f"{job}, round {number}: {contender.name}")
        try:
            runs[contender.name][number] = _run(contender, place, course)
        except SystemExit as failure:
            if contender is contenders[0]:
                raise  # nothing to compare with
            trouble[contender.name] = _in_a_line(str(failure), course.place)
            _tell(f"  {trouble[contender.name]}")
    ours = {number: run.rate for number, run in runs[contenders[0].name].items()}
    if not all(ours.values()):
        raise SystemExit(f"{job}: {contenders[0].name} was not through after --limit seconds: give it more")
    return [_standing(each.name, places[each.name], runs[each.name], ours, trouble) for each in contenders]


def _turns(contenders: Sequence[Contender], rounds: int) -> Iterator[tuple[int, Contender]]:
    for number in range(1, rounds + 1):
        for contender in contenders:
            yield number, contender


def _has_had_its_run(contender: Contender, runs: Mapping[int, Run], course: Course) -> bool:
    """Whether it takes so long that one round must do."""
    costs = [run.cost for run in runs.values()]
    return contender.comes_to_an_end and any(
        cost.cut or cost.wall_seconds > course.limit_seconds for cost in costs
    )


def _environment(contender: Contender, place: Path) -> Environment | Missing:
    return environment(contender.needs, place) if contender.needs else OURS


def _run(contender: Contender, place: Environment, course: Course) -> Run:
    folder, started = course.outputs.fresh(), time.time()
    task = Task(course.origin, folder / "output", course.pages)
    cost = run_measured(
        contender.command(place, task),
        folder / "log",
        folder=place.folder,
        limit_seconds=course.patience_seconds if contender.comes_to_an_end else course.limit_seconds,
        fine=contender.fine,
    )
    if cost.cut:
        cost = _until_last_written(cost, task.output, started)
    found = contender.found(task.output)
    return Run(cost, len(found & course.truth), len(found - course.truth))


def _until_last_written(cost: Cost, output: Path, started: float) -> Cost:
    """Some have all their pages and do not end: that is not held against their rate.

    By the time of the inode's change: wget2 gives files the time that the server names.
    """
    times = (path.stat().st_ctime for path in output.rglob("*") if path.is_file())
    seconds = max(times, default=started + cost.wall_seconds) - started
    return cost._replace(wall_seconds=min(cost.wall_seconds, max(seconds, SHORTEST_SECONDS)))


def _standing(
    name: str,
    place: Environment | Missing,
    runs: dict[int, Run],
    ours: dict[int, float],
    trouble: dict[str, str],
) -> Standing:
    versions = place.versions if isinstance(place, Environment) else ""
    counted = {number: run for number, run in runs.items() if run.pages}
    why = trouble.get(name, "" if counted else "no page was there when its time was up")
    ratios = tuple(ours[number] / run.rate for number, run in counted.items())
    return Standing(name, versions, tuple(counted.values()), ratios, why)


def sumi_of(standings: Sequence[Standing]) -> Standing:
    return next(standing for standing in standings if standing.name == SUMI)


def load_average() -> str:
    return " ".join(f"{load:.1f}" for load in os.getloadavg())


def _in_a_line(failure: str, place: Path) -> str:
    """Of a failed command: how it ended, and the last that it said."""
    heading, *said = [line for line in failure.splitlines() if line.strip()]
    ended = heading[heading.rfind("failed") :].rstrip(":")
    return f"{ended} {said[-1] if said else ''}".strip().replace(str(place), "…")[:200]


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
