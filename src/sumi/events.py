"""What the engine reports while it works. Progress, logs and ``--json`` are made from these and nothing else.

Each event is one JSON object: ``{"event": <name>, …}``. The last event of a run is a ``summary``.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec


class RunStarted(msgspec.Struct, frozen=True, tag_field="event", tag="started"):
    job: str
    target: str
    output: str
    resumed: bool
    pending: int
    notes: tuple[str, ...] = ()  # what a user should know: robots ignored, private addresses open, ETA


class AlreadyFinished(msgspec.Struct, frozen=True, tag_field="event", tag="finished"):
    """An earlier run already finished the job: nothing is requested, and the summary is of that run."""

    job: str
    target: str
    output: str
    since: str
    advice: str  # how to run it again


class Recovered(msgspec.Struct, frozen=True, tag_field="event", tag="recovered"):
    """What had to be repaired when the state of a stopped run was opened."""

    claims_reset: int
    torn_bytes: int
    requeued: int


class PageSettled(msgspec.Struct, frozen=True, tag_field="event", tag="page"):
    url: str
    outcome: str
    ending: str
    rule: str = ""
    path: str | None = None
    found: int = 0  # new URLs
    body_bytes: int | None = None  # None: nothing came
    latency_ms: int | None = None  # until the response began
    referrer: str | None = None  # the page or sitemap on which it was found first


class PageDeferred(msgspec.Struct, frozen=True, tag_field="event", tag="retry"):
    url: str
    why: str
    not_before: float


class RobotsRead(msgspec.Struct, frozen=True, tag_field="event", tag="robots"):
    origin: str
    status: int
    meaning: str  # "rules apply", "everything allowed (404)", "nothing allowed (503)"
    crawl_delay: float | None = None
    sitemaps: int = 0


class Warned(msgspec.Struct, frozen=True, tag_field="event", tag="warning"):
    message: str


class HostWaits(msgspec.Struct, frozen=True, tag_field="event", tag="wait"):
    """A host is not asked for longer than ten seconds."""

    host: str
    why: str  # follows its name: "answered 429", "failed for 10 different URLs in a row"
    until: float
    pending: int  # of its pages


class WaitingHost(msgspec.Struct, frozen=True):
    host: str
    pending: int
    in_flight: int
    why: str
    ready_at: float | None  # None: not in this run


class Progress(msgspec.Struct, frozen=True, tag_field="event", tag="progress"):
    """Sent a few times a second at most."""

    done: int
    pending: int  # what this run still has to do, without what is over a limit or on hosts given up
    failed: int
    passed_over: int
    pages_per_second: float
    eta_seconds: float | None
    hosts: tuple[str, ...] = ()
    waits_for: HostWaits | None = None  # while every host has to wait: the one that is asked first
    waiting: tuple[WaitingHost, ...] = ()  # the hosts of the last pages, and what each waits for


class StateChanged(msgspec.Struct, frozen=True, tag_field="event", tag="state"):
    """The run was paused, resumed or stopped."""

    state: str  # running | paused | stopping | aborting
    why: str = ""  # what asked for it: a signal, a flag file


class Retuned(msgspec.Struct, frozen=True, tag_field="event", tag="retuned"):
    """Limits were reloaded and apply from now on."""

    concurrency: int
    per_host: int
    delay: float  # seconds between pages of one host
    manifest_delay: float  # the same after a sitemap; the name is that of the JSON event
    max_pages: int  # 0: no limit


class Busy(msgspec.Struct, frozen=True, tag_field="event", tag="busy"):
    """Work on all pages begins that needs no network and takes a while."""

    with_what: str


class CaptureProgress(msgspec.Struct, frozen=True, tag_field="event", tag="capture"):
    """The progress of a capture, after each of its pages."""

    job: str
    pages_found: int  # waiting, in progress and processed
    pages_processed: int  # pages stored, duplicates not counted
    pages_failed: int
    queue_size: int
    in_progress: tuple[str, ...] = ()  # URLs being visited


class Status(msgspec.Struct, frozen=True, tag_field="event", tag="status"):
    """The status of a run, on request. ``outcomes`` and ``pending`` add up to ``discovered``."""

    state: str
    discovered: int
    outcomes: dict[str, int]
    pending: int
    at: float
    in_flight: tuple[str, ...] = ()
    hosts: tuple[WaitingHost, ...] = ()


class Summary(msgspec.Struct, frozen=True, tag_field="event", tag="summary"):
    """The last event. ``outcomes`` add up to ``discovered``."""

    job: str
    status: str  # complete | limited | partial | interrupted | aborted
    discovered: int
    outcomes: dict[str, int]
    output: str
    seconds: float
    notes: tuple[str, ...] = ()
    below_fidelity: int = 0  # pages whose Markdown is below the requested fidelity
    above_junk: int = 0  # pages of whose Markdown more than allowed stands on most pages of the site
    unread: int = 0  # lines and files of a spool that could not be read
    # Pages that were found and left out, by outcome; links_dropped counts links beyond the limit per page.
    left_out: dict[str, int] = {}
    alone: bool = False  # the job, or a domain of a map, is one page without a followed link
    amiss: tuple[str, ...] = ()  # URLs that the user gave and that are not pages, with their outcomes
    # Failed URLs that do not make the run partial, by reason: allowed, foreign (in a map), assets.
    excused: dict[str, int] = {}


class Exported(msgspec.Struct, frozen=True, tag_field="event", tag="exported"):
    """The last event of an export."""

    format: str
    output: str
    written: int  # pages, or rows of a table
    missing: int  # pages that could not be read
    moment: str  # of which its content is
    seconds: float
    notes: tuple[str, ...] = ()


Event: TypeAlias = (
    RunStarted
    | AlreadyFinished
    | Recovered
    | PageSettled
    | PageDeferred
    | RobotsRead
    | Warned
    | HostWaits
    | Progress
    | StateChanged
    | Retuned
    | Busy
    | CaptureProgress
    | Status
    | Summary
    | Exported
)
Listener: TypeAlias = Callable[[Event], None]


def as_json_object(event: Event, now: float) -> dict[str, Any]:
    """The event as ``--json`` and log files have it: its name, the time, then its fields."""
    fields = msgspec.to_builtins(event)
    return {"event": fields.pop("event"), "time": time_text(now), **fields}


def time_text(at: float) -> str:
    """``2026-11-18T02:30:00.125Z``"""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
