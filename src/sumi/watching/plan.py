"""What is to be watched, and what is due: the file that the user writes, and the record of what ran."""

import math
import re
import shlex
from collections import Counter
from pathlib import Path
from typing import Final

import msgspec

from sumi.errors import UsageError
from sumi.settings.config_file import toml_file
from sumi.settings.kinds import DURATION, Kind, whole
from sumi.settings.setting import Setting, in_section
from sumi.watching.cron import Cron, parse_cron

COMMANDS: Final = ("mirror", "crawl", "scrape", "run", "map", "capture")
# Without it a finished mirror or map would only say that it is finished.
_UPDATED: Final = ("mirror", "map")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
DEFAULT_AT_ONCE: Final = 2
_UNITS: Final = {"d": 86_400, "h": 3600, "m": 60, "s": 1}


class WatchedJob(msgspec.Struct, frozen=True):
    name: str
    words: tuple[str, ...]  # of the command, without ``sumi``
    every: float | None = None  # seconds
    cron: str | None = None

    @property
    def schedule(self) -> str:
        if self.every is None:
            return f"cron {self.cron}"
        unit = next((unit for unit in _UNITS if self.every % _UNITS[unit] == 0), "s")
        return f"every {self.every / _UNITS[unit]:g}{unit}"


class Plan(msgspec.Struct, frozen=True):
    path: Path
    jobs: tuple[WatchedJob, ...]
    at_once: int = DEFAULT_AT_ONCE

    @property
    def folder(self) -> Path:
        """Where the record, the logs and the locks are."""
        return self.path.with_suffix(".watch")


class LastRun(msgspec.Struct, frozen=True, omit_defaults=True):
    """``due``: the time that this run was for. Without ``ended`` it runs, or its end was not recorded."""

    due: float
    started: float | None = None
    ended: float | None = None
    code: int | None = None


def next_due(job: WatchedJob, last: LastRun | None, now: float) -> float:
    """When the job is to start; a time that has passed if it is due. What was missed is due once."""
    if last is None:
        return now if job.every is not None else _after(job, now)
    if last.started is None:
        # A cron job that was seen first then, and never ran.
        return now if job.every is not None else _after(job, min(last.due, now))
    if last.ended is None:
        return now
    seen = min(last.started, now)  # a clock that was set back must not put a job off
    if job.every is None:
        return _after(job, seen)
    begun = min(last.due, seen)
    return begun + (math.floor((seen - begun) / job.every) + 1) * job.every


def _after(job: WatchedJob, moment: float) -> float:
    cron: Cron = parse_cron(job.cron or "")
    following = cron.after(moment)
    assert following is not None  # the file was refused otherwise
    return following


# ── the file ───────────────────────────────────────────────────────────────────────────────────────────────


def _parse_cron(text: str) -> str:
    parse_cron(text)
    return text


def _parse_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(text)
    return text


def _parse_command(text: str) -> str:
    words = shlex.split(text)
    if words[:1] == ["sumi"]:
        words = words[1:]
    if not words or words[0] not in COMMANDS:
        raise ValueError(text)
    return shlex.join(words)


_COMMAND: Final = Kind(
    f"a command of sumi ({', '.join(COMMANDS)}), such as mirror https://docs.example.org",
    _parse_command,
    "COMMAND",
)
_CRON: Final = Kind("a cron expression such as 30 3 * * mon-fri", _parse_cron, "CRON")
_JOB_NAME: Final = Kind("a name of up to 64 letters, digits, dots and hyphens", _parse_name, "NAME")


class _JobSection(msgspec.Struct, frozen=True):
    every: float | None = None
    cron: str | None = None


_TABLE: Final = (
    Setting("at-once", whole(1, 64, "jobs"), "Jobs at the same time.", default=DEFAULT_AT_ONCE),
    *in_section(
        "job",
        _JobSection,
        Setting("name", _JOB_NAME, "What to call it.", required=True),
        Setting("command", _COMMAND, "What to run.", required=True),
        Setting("every", DURATION, "The time between two starts."),
        Setting("cron", _CRON, "When to start."),
        repeated=True,
    ),
)


def load_plan(path: Path) -> Plan:
    """Raises ConfigError with every mistake in the file."""
    file = toml_file(path, "the watch file")
    values = file.read(_TABLE)
    sections = values.get("job") or []
    if not sections:
        file.complain("has no [[job]]: write one with a name, a command, and every or cron")
    values_are_sound = file.is_sound  # otherwise what is missing may be there, but wrong
    for section in sections:
        name, given = section.get("name", ""), section.keys() & {"every", "cron"}
        if len(given) == 2 or (not given and values_are_sound):
            file.complain(f"job {name} needs either every or cron")
    names = Counter(section["name"] for section in sections if "name" in section)
    for name in (name for name, count in names.items() if count > 1):
        file.complain(f"two jobs are called {name}")
    file.refuse()
    jobs = tuple(
        WatchedJob(one["name"], _words(one["command"]), one.get("every"), one.get("cron")) for one in sections
    )
    return Plan(Path(path), jobs, values.get("at_once", DEFAULT_AT_ONCE))


def _words(command: str) -> tuple[str, ...]:
    words = tuple(shlex.split(command))
    given = {"--update", "--fresh"} & set(words)
    return words if words[0] not in _UPDATED or given else (*words, "--update")


def job_named(plan: Plan, name: str) -> WatchedJob:
    for job in plan.jobs:
        if job.name == name:
            return job
    raise UsageError(f"{plan.path} has no job {name}: it has {', '.join(job.name for job in plan.jobs)}")
