"""Second commands beside a running job, at moments of chance and with kills: nobody is hurt by anybody.

A job is begun, commands of every kind are started beside it, some of them or the job itself are killed. Then
the job is let finish, or finished by the same command if it was killed. It has to be whole: every page once,
counts that add up, a state that the deep check finds nothing wrong with. While the site held the job, every
command that removes or replaces anything must have said who is at work, and left.
"""

import json
import random
import re
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from tests.held_site import HeldSite, archive_of, crawl_config, held_site, map_config, pause
from tests.warm import Warm, run_warm

PAGES: Final = 6  # one at least is left when a run is paused at another, or it would just end
SECONDS: Final = 600.0
IN_USE: Final = 7
KILLED: Final = -signal.SIGKILL
_FAST = ("--rate-limit", "0", "--processes", "0")
_WHO = re.compile(r"in use by process \d+ \(sumi [a-z -]+, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)")

_HALF_RESET = "workspace reset was interrupted"

Words: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Job:
    """``flag``: the file that pauses it, as a pattern. ``fresh``: the command that would start it over.
    ``refused``: those that must say who is at work. ``looks``: those that may go ahead. ``faults``: what is
    wrong once it has finished."""

    name: str
    flag: str
    command: Words
    fresh: Words
    refused: tuple[Words, ...]
    looks: tuple[Words, ...]
    faults: Callable[[Path, HeldSite], Iterator[str]]


def job_named(name: str, folder: Path, site: HeldSite, state: str) -> Job:
    match name:
        case "mirror":
            return _mirror(folder, site, state)
        case "crawl":
            return _crawl(folder, site, state)
        case "map":
            return _map(folder, site)
    return _capture(site)


STATES: Final = ("files", "sqlite", "lmdb")
JOBS: Final = ("mirror", "crawl", "map", "capture")


def _mirror(folder: Path, site: HeldSite, state: str) -> Job:
    archive = str(archive_of(site, folder / "pages.warc"))
    home = f"output/{site.home}"
    command = ("mirror", site.url, *_FAST, "--concurrency", "1", "--follow-links", "-q", "--state", state)
    return Job(
        "mirror",
        "output/*/pause.mirror",
        command,
        (*command, "--fresh"),
        (
            command,
            (*command, "--fresh"),
            (*command, "--update"),
            ("rebuild", "output"),
            ("state", "check", "output"),
            ("state", "check", "output", "--repair"),
            ("state", "migrate", "output", "copy", "--to", "sqlite"),
            # Where a killed run had made no state yet, an import makes one of files.
            *(
                (("import", "warc", archive), ("import", "warc", archive, "--fresh"))
                if state == "files"
                else ()
            ),
            ("mirror", site.url, "--replay", archive, "--state", state),
            ("history", "prune", "output", "--keep", "1h"),
        ),
        (
            ("status", "output"),
            ("explain", f"{site.url}p1"),
            ("export", "jsonl", home, "-o", f"{home}/_manifest.json"),  # refused, whoever is at work
            ("feed", "output", "-o", f"{home}/.sumi/format.json"),  # refused
            *_looks_at_pages("output"),
        ),
        _mirror_faults,
    )


def _looks_at_pages(place: str) -> tuple[Words, ...]:
    return (
        ("index", place),
        ("index", place, "--rebuild"),
        ("search", "words", "--in", place),
        ("log", "--in", place),
        ("feed", place, "-o", "changes.atom"),
        ("export", "jsonl", place, "-o", "pages.jsonl"),
        ("export", "mkdocs", place, "-o", "tree"),
        ("export", "wacz", place, "-o", "pages.wacz"),
    )


def _mirror_faults(folder: Path, site: HeldSite) -> Iterator[str]:
    manifest = msgspec.json.decode((folder / "output" / site.home / "_manifest.json").read_bytes())
    yield from _unequal([page["url"] for page in manifest["pages"]], site.urls)
    if sum(manifest["outcomes"].values()) != manifest["discovered"]:
        yield "the outcomes do not add up"
    yield from _violations(folder, "output")


def _crawl(folder: Path, site: HeldSite, state: str) -> Job:
    config = str(crawl_config(folder, site, frontier={"backend": state, "db_path": "state/frontier"}))
    command = ("run", "--unified", "--config", config, "--processes", "0", "-q")
    return Job(
        "crawl",
        "workspace/pause.unified",
        command,
        ("workspace", "reset", "--yes"),
        (
            command,
            ("workspace", "reset", "--yes"),
            ("workspace", "reset", "--yes", "--config", config),
            ("state", "check", "workspace", "--repair"),
            ("state", "migrate", "workspace/state/frontier", "copy", "--to", "lmdb"),
        ),
        (
            ("status", "workspace"),
            ("crawl", "status", "--config", config),
            ("scrape", "replay", "--config", config),
            ("state", "migrate", "workspace/index/page_index.jsonl", "copy.lmdb", "--to", "lmdb"),
            ("export", "jsonl", "workspace", "-o", "workspace/metadata/crawl_metadata.jsonl"),  # refused
            *_looks_at_pages("workspace"),
        ),
        _crawl_faults,
    )


def _crawl_faults(folder: Path, site: HeldSite) -> Iterator[str]:
    lines = (folder / "workspace/metadata/crawl_metadata.jsonl").read_bytes().splitlines()
    yield from _unequal([json.loads(line)["url"] for line in lines], _named(site))
    yield from _violations(folder, "workspace")


def _map(folder: Path, site: HeldSite) -> Job:
    config = str(map_config(folder, site))
    command = ("map", config, "-q")
    export = ("map", "export", "--format", "graphml", config, "-o")
    return Job(
        "map",
        "pause.map",
        command,
        (*command, "--fresh"),
        (command, (*command, "--fresh"), (*command, "--resume")),
        (
            ("map", config, "--stats"),
            ("map", config, "--export-summary"),
            (*export, "web.graphml"),
            (*export, "map.db"),  # refused, whoever is at work
            ("map", "export", "--format", "csv", config, "-o", "web.csv"),
            ("map", "analyze", config),
            ("index", "."),
            ("status", "map.db"),
        ),
        _map_faults,
    )


def _map_faults(folder: Path, site: HeldSite) -> Iterator[str]:
    with sqlite3.connect(folder / "map.db") as db:
        yield from (row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok")
        (unfinished,) = db.execute("SELECT count(*) FROM runs WHERE status = 'running'").fetchone()
        if unfinished:
            yield f"{unfinished} runs are not at their end"
        yield from _unequal([url for (url,) in db.execute("SELECT url FROM pages")], _named(site))


def _capture(site: HeldSite) -> Job:
    command = ("capture", site.url, *_FAST, "--workers", "1", "--allow-private", "-q")
    return Job(
        "capture",
        "captures/jobs/*/pause.capture",
        command,
        ("capture", "delete", "2"),  # every job's id begins with the year
        (command, ("capture", "delete", "2"), ("history", "prune", "captures", "--keep", "1h")),
        (
            ("capture", "list"),
            ("capture", "show"),
            ("capture", "export", "--format", "jsonl", "-o", "export.jsonl"),
            ("capture", "export", "--format", "zip", "-o", "captures/captures.sqlite"),  # refused
            *_looks_at_pages("captures"),
        ),
        _capture_faults,
    )


def _capture_faults(folder: Path, site: HeldSite) -> Iterator[str]:
    with sqlite3.connect(folder / "captures/captures.sqlite") as db:
        yield from (row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok")
        jobs = db.execute("SELECT id, status FROM jobs ORDER BY id").fetchall()
        done = [job for job, status in jobs if status == "completed"]
        if not done:
            yield f"no job is done: {jobs}"
        for job in done:
            found = [url for (url,) in db.execute("SELECT url FROM pages WHERE job = ?", (job,))]
            yield from _unequal(found, site.urls)


def _named(site: HeldSite) -> set[str]:
    return {url.replace("127.0.0.1", "site.test") for url in site.urls}


def _unequal(found: list[str], wanted: set[str]) -> Iterator[str]:
    plain = [url.rstrip("/") for url in found]
    if sorted(plain) != sorted(url.rstrip("/") for url in wanted):
        yield f"pages: {sorted(found)}"


def _violations(folder: Path, place: str) -> Iterator[str]:
    said = folder / "check.txt"
    if run_warm(("state", "check", place, "--deep"), folder, said, (), SECONDS) != 0:
        yield f"state check: {said.read_text().strip()}"


# ── one run of a campaign ──────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _place(name: str, folder: Path, free: int, state: str) -> Iterator[tuple[Job, HeldSite]]:
    folder.mkdir(parents=True)
    with held_site(PAGES, free) as site:
        yield job_named(name, folder, site, state), site
    shutil.rmtree(folder, ignore_errors=True)


def fresh_beside(folder: Path, seed: int) -> list[str]:
    """The command that starts a job over, several times, while the job is under way."""
    chance = random.Random(seed)
    with _place(JOBS[seed % len(JOBS)], folder, chance.randrange(PAGES - 1), chance.choice(STATES)) as (
        job,
        site,
    ):
        first = Warm((*job.command, "--json"), folder, folder / "first.txt")
        wrong = _paused(job, first, folder, site)
        others = [Warm(job.fresh, folder, folder / f"{number}.txt") for number in range(3)]
        for number, other in enumerate(others):
            wrong += _unrefused(job.fresh, other.wait(SECONDS), folder / f"{number}.txt")
        _let_go(job, folder)
        return [*wrong, *_finished(job, first, folder, site, is_alone=True)]


def second_commands(folder: Path, seed: int) -> list[str]:
    """Commands of every kind at moments of chance, from the very start of the job on, some of them killed."""
    chance = random.Random(seed)
    is_held = chance.random() < 0.5
    free = chance.randrange(PAGES - 1) if is_held else PAGES
    with _place(JOBS[seed % len(JOBS)], folder, free, chance.choice(STATES)) as (job, site):
        if not is_held:
            site.let_go()
        first = Warm((*job.command, "--json"), folder, folder / "first.txt")
        wrong = _paused(job, first, folder, site) if is_held else []
        begun: list[tuple[Words, Warm, Path]] = []
        for number, words in enumerate(chance.sample((*job.refused, *job.looks), 3)):
            time.sleep(chance.uniform(0, 0.1))
            said = folder / f"{number}.txt"
            begun.append((words, Warm(words, folder, said), said))
        killed = chance.choice((None, first, *(other for _, other, _ in begun)))
        time.sleep(chance.uniform(0, 0.1))
        if killed is not None:
            killed.kill()
        if killed is first:  # whoever comes after it is not to be paused
            _let_go(job, folder)
        is_alone = killed is not first
        for words, other, said in begun:
            code = other.wait(SECONDS)
            is_alone &= code == IN_USE or words not in job.refused
            if is_held and killed not in (first, other) and words in job.refused:
                wrong += _unrefused(words, code, said)
            wrong += _unclean(words, code, said)
        _let_go(job, folder)
        return [*wrong, *_finished(job, first, folder, site, is_alone=is_alone)]


def _finished(job: Job, first: Warm, folder: Path, site: HeldSite, *, is_alone: bool) -> list[str]:
    """By itself, if nobody else worked there; otherwise by the same command, given again."""
    code = first.wait(SECONDS)
    if code not in ((0,) if is_alone else (0, IN_USE, KILLED)):
        return [f"{job.name} ended with {code}: {(folder / 'first.txt').read_text().strip()}"]
    again = folder / "again.txt"
    if not is_alone and _again(job, folder, again) != 0:
        return [f"{job.name}, again: {again.read_text().strip()}"]
    return list(job.faults(folder, site))


def _again(job: Job, folder: Path, said: Path) -> int | None:
    code = run_warm(job.command, folder, said, (), SECONDS)
    if code == IN_USE and _HALF_RESET in said.read_text():
        run_warm(job.fresh, folder, said, (), SECONDS)
        code = run_warm(job.command, folder, said, (), SECONDS)
    return code


def _paused(job: Job, first: Warm, folder: Path, site: HeldSite) -> list[str]:
    above, _, name = job.flag.rpartition("/")

    def flag() -> Path:
        return next(folder.glob(above) if above else iter((folder,))) / name

    why_not = pause(site, flag, folder / "first.txt", lambda: first.code is not None)
    return [why_not] if why_not else []


def _let_go(job: Job, folder: Path) -> None:
    for flag in folder.glob(job.flag):
        flag.unlink()


def _unrefused(words: Words, code: int | None, said: Path) -> list[str]:
    text = said.read_text()
    return [] if code == IN_USE and _WHO.search(text) else [f"{' '.join(words)}: {code}: {text.strip()}"]


def _unclean(words: Words, code: int | None, said: Path) -> list[str]:
    """Whatever it met, it ended, and with a sentence."""
    text = said.read_text()
    if code is None or "Traceback" in text or "a bug in Sumi" in text:
        return [f"{' '.join(words)}: {code}: {text.strip()}"]
    return []
