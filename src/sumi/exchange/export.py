"""``sumi export``: what jobs captured, in a format of others. An export is a job as well: it tells its
progress, can be stopped, and its result is there whole or not at all."""

import asyncio
import time
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from sumi.catalogue.find import Job, JobKind, find_jobs
from sumi.corpus.histories import since_time
from sumi.engine.control import Control, obeying_signals
from sumi.engine.disk_watch import disk_space
from sumi.errors import Interrupted, TooLittleSpace, UsageError
from sumi.events import Exported, Listener, Progress, RunStarted
from sumi.exchange.formats import FORMATS, Choices, Format
from sumi.exchange.material import Material, open_material
from sumi.exchange.wacz import wacz_of_archives
from sumi.files.plain_text import iso_utc
from sumi.policy import is_database
from sumi.state.folder import refuse_to_replace

Place: TypeAlias = str | PathLike[str]
T = TypeVar("T")

USUAL_PLACES: Final = ("output", "captures")
LEAST_TOKENS: Final = 6000  # a section in a dense script
_PROGRESS_SECONDS: Final = 0.2
_SPARE_BYTES: Final = 64 * 1024 * 1024
_MIB: Final = 1024 * 1024


async def export(
    format: str,  # noqa: A002 - as the command calls it
    *places: Place,
    output: Place | None = None,
    since: str | None = None,
    sections: bool = False,
    max_tokens: int = 0,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
) -> Exported:
    """``sumi export``: the pages of mirrors, captures and crawls in a format that other programs read.

    ``places`` are folders of jobs, or WARC files for ``wacz``; ./output and ./captures if there are none.
    """
    chosen = Choices(sections=sections, max_tokens=max_tokens)
    kind = _format(format, chosen)
    running = _Running(format, listeners, control or Control())
    with obeying_signals(running.control):
        files = _archives(places)
        if files:
            return await _of_archives(running, format, files, places, output, since)
        jobs = _jobs(places)
        return await _of_jobs(running, kind, jobs, output, since, chosen)


async def _of_jobs(
    running: "_Running",
    kind: Format,
    jobs: list[Job],
    output: Place | None,
    since: str | None,
    chosen: Choices,
) -> Exported:
    target = _target(output, _stem(jobs), kind, chosen)
    moment = time.time()
    async with open_material(jobs, moment) as material:
        listing = material.listing
        if since is not None:
            listing.keep_since(since_time(since))
        total = listing.count()
        if not total:
            raise UsageError(_nothing(jobs, since))
        _refuse_if_too_large(target, int(listing.size(with_files=kind.with_files) * kind.growth))
        material.tick = running.begin(target, total, _notes(jobs, moment))
        written = await running.in_thread(lambda: kind.write(material, target, chosen))
        return running.end(target, written, moment, _missing_notes(material), material.missing_count)


async def _of_archives(
    running: "_Running",
    name: str,
    files: list[Path],
    places: Sequence[Place],
    output: Place | None,
    since: str | None,
) -> Exported:
    if name != "wacz" or len(files) < len(places) or since is not None:
        raise UsageError(
            f"{files[0]} is a file: only wacz is made of WARC files, and of all of them; for anything else "
            f"run sumi import warc {files[0]} and export the mirror"
        )
    target = _target(output, files[0].name.partition(".warc")[0], FORMATS[name], Choices())
    if any(target.resolve() == file.resolve() for file in files):
        raise UsageError(f"{target} is one of the files to read: name another with --output")
    moment = time.time()
    _refuse_if_too_large(target, sum(file.stat().st_size for file in files) * 2)
    tick = running.begin(target, 0, ())
    title = ", ".join(file.name for file in files[:3])
    written, notes = await running.in_thread(lambda: wacz_of_archives(files, target, moment, tick, title))
    return running.end(target, written, moment, tuple(notes), 0)


class _Running:
    """An export under way: its thread asks here whether to go on, and tells here what it has done."""

    def __init__(self, name: str, listeners: Sequence[Listener], control: Control) -> None:
        self.control = control
        self._name = name
        self._listeners = listeners
        self._loop = asyncio.get_running_loop()
        self._started = time.monotonic()
        self._told = self._started
        self._done = 0
        self._total = 0

    def begin(self, target: Path, total: int, notes: tuple[str, ...]) -> Callable[[], None]:
        self._total = total
        self._tell(RunStarted(f"export {self._name}", f"{total:,} pages", str(target), False, total, notes))
        return self._tick

    async def in_thread(self, work: Callable[[], T]) -> T:
        task = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self.control.stop("cancelled")
            await asyncio.wait([task])
            raise

    def end(
        self, target: Path, written: int, moment: float, notes: tuple[str, ...], missing: int
    ) -> Exported:
        seconds = time.monotonic() - self._started
        event = Exported(self._name, str(target), written, missing, iso_utc(moment), seconds, notes)
        self._tell(event)
        return event

    def _tick(self) -> None:
        """Called in the thread that writes."""
        if self.control.stopping:
            raise Interrupted(f"the export was stopped after {self._done:,} pages; nothing was written")
        self._done += 1
        now = time.monotonic()
        if now - self._told >= _PROGRESS_SECONDS:
            self._told = now
            self._loop.call_soon_threadsafe(self._tell, self._progress(now - self._started))

    def _progress(self, seconds: float) -> Progress:
        rate = self._done / seconds if seconds else 0.0
        left = max(self._total - self._done, 0)
        return Progress(self._done, left, 0, 0, rate, left / rate if rate and self._total else None)

    def _tell(self, event: RunStarted | Progress | Exported) -> None:
        for listener in self._listeners:
            listener(event)


def _format(name: str, chosen: Choices) -> Format:
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}; there are {', '.join(FORMATS)}")
    given = {"sections": chosen.sections, "max_tokens": bool(chosen.max_tokens)}
    for option, is_given in given.items():
        if is_given and option not in FORMATS[name].takes:
            able = [each for each, format_ in FORMATS.items() if option in format_.takes]
            flag = option.replace("_", "-")
            raise UsageError(f"--{flag} means nothing to {name}; it is for {', '.join(able)}")
    if chosen.max_tokens and chosen.max_tokens < LEAST_TOKENS:
        raise UsageError(f"--max-tokens {chosen.max_tokens}: a part has at least {LEAST_TOKENS:,} tokens")
    return FORMATS[name]


def _archives(places: Sequence[Place]) -> list[Path]:
    return [Path(place) for place in places if Path(place).is_file()]


def _jobs(places: Sequence[Place]) -> list[Job]:
    named = list(places) or list(USUAL_PLACES)
    for place in places:
        if not is_database(fspath(place)) and not Path(place).exists():
            raise UsageError(f"{place} does not exist: give the folder of a mirror, a capture or a crawl")
    jobs = [job for job in find_jobs(*named) if job.kind is not JobKind.MAP]
    if not jobs:
        where = " or ".join(str(place) for place in named)
        raise UsageError(f"no mirror, capture or crawl is in {where}: give the folder of one")
    return jobs


def _stem(jobs: list[Job]) -> str:
    return jobs[0].name.replace("/", "-") if len(jobs) == 1 else jobs[0].root.resolve().name


def _target(output: Place | None, stem: str, kind: Format, chosen: Choices) -> Path:
    suffix = "" if chosen.max_tokens else kind.suffix
    target = Path(f"{stem}{suffix}") if output is None else Path(fspath(output))
    if output is None and not suffix:
        target = Path(f"{stem}-export")
    refuse_to_replace(target)
    return target


def _nothing(jobs: list[Job], since: str | None) -> str:
    where = ", ".join(str(job.home) for job in jobs[:3])
    return f"{where}: no page was captured there" + ("" if since is None else f" or changed since {since}")


def _notes(jobs: list[Job], moment: float) -> tuple[str, ...]:
    active = [job.name for job in jobs if job.process is not None]
    if not active:
        return ()
    return (f"{', '.join(active[:3])} is still running: the export has what it had at {iso_utc(moment)}",)


def _missing_notes(material: Material) -> tuple[str, ...]:
    if not material.missing_count:
        return ()
    named = ", ".join(material.missing[:3])
    more = "" if material.missing_count <= 3 else f" and {material.missing_count - 3:,} more"
    return (f"left out, because it is not stored any more or was not kept: {named}{more}",)


def _refuse_if_too_large(target: Path, needed: int) -> None:
    folder = target.absolute().parent
    while not folder.exists():
        folder = folder.parent
    room = disk_space(folder)
    if room is not None and needed + _SPARE_BYTES > room.free_bytes:
        raise TooLittleSpace(
            f"not enough space for {target}: it may take {needed // _MIB:,} MiB, and "
            f"{room.free_bytes // _MIB:,} MiB are free; free some, or name another place with --output"
        )
