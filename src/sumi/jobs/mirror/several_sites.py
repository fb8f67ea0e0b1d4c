"""Several sites mirrored into one folder, one after the other: each with its own home, state and summary."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from sumi.assembly.parts import run_loop, teller
from sumi.engine.completeness import STATUSES
from sumi.engine.control import Controls, obeying_signals
from sumi.engine.io import SystemClock
from sumi.errors import StorageFailed, SumiError, UsageError
from sumi.events import Listener, Summary, Warned
from sumi.jobs.mirror.recipe import mirror_job
from sumi.jobs.mirror.run import mirror
from sumi.jobs.mirror.settings import MirrorSettings
from sumi.model import Candidate
from sumi.scope import Scope

ReadSites = Callable[[], Sequence[MirrorSettings]]
# A signal that arrives while the loop is busy, as at the end of a site, is handled within this time.
SIGNAL_SECONDS = 0.01
STOPPED = ("interrupted", "aborted")


class SiteEnd(NamedTuple):
    """How one site ended: with a summary, or with an error; with neither if it was not started."""

    url: str
    summary: Summary | None
    error: SumiError | None = None

    @property
    def not_started(self) -> bool:
        return self.summary is None and self.error is None

    @property
    def description(self) -> str:
        if self.summary is None:
            return f"{self.url}: not started" if self.error is None else f"{self.url}: {self.error}"
        captured = sum(self.summary.outcomes.get(name, 0) for name in ("captured", "unchanged"))
        return f"{self.url}: {self.summary.status}, {captured:,} pages"


def run_sites(
    sites: Sequence[MirrorSettings], listeners: Sequence[Listener], read_sites: ReadSites | None = None
) -> list[SiteEnd]:
    """Run one after the other, until one is stopped. After an error, the next site starts."""
    refuse_overlaps(sites)
    return run_loop(_run(sites, listeners, read_sites))


def refuse_overlaps(sites: Sequence[MirrorSettings]) -> None:
    """Two jobs with a host in common would write the same files."""
    for number, site in enumerate(sites):
        hosts = Scope(hosts=mirror_job(site).recipe.scope.hosts)
        for other in (*sites[:number], *sites[number + 1 :]):
            if hosts.judge(Candidate(other.url)) is None:
                raise UsageError(
                    f"{site.url} and {other.url} are parts of one site and would share its folder: give one "
                    "URL that covers both, and narrow it with --include"
                )


async def _run(
    sites: Sequence[MirrorSettings], listeners: Sequence[Listener], read_sites: ReadSites | None
) -> list[SiteEnd]:
    clock, tell, controls = SystemClock(), teller(listeners), Controls()
    started = clock.now()
    ends: list[SiteEnd] = []
    with obeying_signals(controls):
        for number, site in enumerate(sites):
            await asyncio.sleep(SIGNAL_SECONDS)
            if controls.was_stopped or any(map(_was_stopped, ends)):
                ends.append(SiteEnd(site.url, None))
                continue
            try:
                again = None if read_sites is None else _reader(read_sites, number)
                site = _in_the_time_left(site, clock.now() - started)  # noqa: PLW2901 - the same, with less time
                ends.append(
                    SiteEnd(
                        site.url,
                        await mirror(site, listeners=listeners, control=controls.next(), read_settings=again),
                    )
                )
            except StorageFailed:
                raise  # the next would fail too
            except SumiError as error:
                tell(Warned(f"{site.url}: {error}"))
                ends.append(SiteEnd(site.url, None, error))
        tell(total_of(ends, sites[0].output, clock.now() - started))
    return ends


def _in_the_time_left(site: MirrorSettings, seconds: float) -> MirrorSettings:
    """``--max-time`` is for all sites together."""
    if site.max_time is None:
        return site
    return msgspec.structs.replace(site, max_time=max(0.0, site.max_time - seconds))


def _was_stopped(end: SiteEnd) -> bool:
    """By a stop file or a full disk: the next site does not start either."""
    return end.summary is not None and end.summary.status in STOPPED


def _reader(read_sites: ReadSites, number: int) -> Callable[[], MirrorSettings]:
    return lambda: read_sites()[number]


def total_of(ends: Sequence[SiteEnd], output: str, seconds: float) -> Summary:
    summaries = [end.summary for end in ends if end.summary is not None]
    outcomes, left_out = Counter[str](), Counter[str]()
    for summary in summaries:
        outcomes.update(summary.outcomes)
        left_out.update(summary.left_out)
    return Summary(
        job="mirror",
        status=_worst_status(ends),
        discovered=sum(summary.discovered for summary in summaries),
        outcomes=dict(outcomes),
        output=output,
        seconds=round(seconds, 3),
        notes=tuple(end.description for end in ends),
        below_fidelity=sum(summary.below_fidelity for summary in summaries),
        above_junk=sum(summary.above_junk for summary in summaries),
        left_out=dict(left_out),
        amiss=tuple(each for summary in summaries for each in summary.amiss),
    )


def _worst_status(ends: Sequence[SiteEnd]) -> str:
    found = {"partial" if end.error else "interrupted" for end in ends if end.summary is None}
    found |= {end.summary.status for end in ends if end.summary is not None}
    return max(found, key=STATUSES.index)
