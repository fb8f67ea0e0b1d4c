"""What users and programs are shown of a run, on a terminal, in a log and as JSON."""

import io
import json
import time
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.console.narration import MOST_FAILURES, Narrator, Verbosity, progress_line, waiting_words
from sumi.console.reporters import JsonLines, LiveLine, PlainLines, QuietEnd, choose_reporter
from sumi.console.summary import summary_lines
from sumi.console.terminal import Palette, Sink
from sumi.events import (
    Busy,
    Event,
    HostWaits,
    PageDeferred,
    PageSettled,
    Progress,
    Recovered,
    RobotsRead,
    RunStarted,
    Summary,
    WaitingHost,
    Warned,
)
from sumi.inspection.status import waiting_host
from sumi.ports import HostWait

PLAIN = Palette(colours=False)
STARTED = RunStarted(
    "mirror", "https://example.org/", "output", resumed=False, pending=0, notes=("robots ignored",)
)
CAPTURED = PageSettled("https://example.org/a", "captured", "done", path="example.org/a/index.md")
FAILED = PageSettled("https://example.org/b", "not_found", "failed", rule="404")
RETRY = PageDeferred("https://example.org/c", "503", 12.0)
ROBOTS = RobotsRead("https://example.org", 200, "rules apply", crawl_delay=2.0, sitemaps=1)
WARNED = Warned("slow host")
RECOVERED = Recovered(2, 17, 1)
EVENTS: tuple[Event, ...] = (STARTED, RECOVERED, CAPTURED, FAILED, RETRY, ROBOTS, WARNED)


def progress(done: int = 5, hosts: tuple[str, ...] = ("example.org",)) -> Progress:
    return Progress(done, 7, 1, 2, 3.5, 200.0, hosts)


def summary(status: str = "complete", left_out: dict[str, int] | None = None, **outcomes: int) -> Summary:
    total = sum(outcomes.values())
    return Summary("mirror", status, total, outcomes, "output", 10.0, left_out=left_out or {})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class HandClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def told(verbosity: Verbosity, *events: Event) -> str:
    narrator = Narrator(verbosity, PLAIN)
    return "\n".join(line for event in events for line in narrator.lines(event))


# --- what is worth a line


def test_by_default_start_warnings_and_failures_are_shown() -> None:
    text = told(Verbosity.NORMAL, *EVENTS)
    assert text.splitlines() == [
        "mirror https://example.org/ into output: starting",
        "note: robots ignored",
        "recovered from a stopped run: unfinished pages 2, incomplete bytes cut off 17, queued again 1",
        "failed: https://example.org/b: not_found (404)",
        "warning: slow host",
    ]


def test_only_the_first_of_many_failures_are_shown_unless_verbose() -> None:
    dead = [
        PageSettled(f"https://example.org/{number}", "not_found", "failed", "404") for number in range(1000)
    ]
    shown = told(Verbosity.NORMAL, *dead).splitlines()
    assert shown[:-1] == [f"failed: {page.url}: not_found (404)" for page in dead[:MOST_FAILURES]]
    assert shown[-1] == "failed: more pages; the summary counts them, -v shows each"
    assert len(told(Verbosity.PAGES, *dead).splitlines()) == len(dead)


def test_work_that_shows_no_progress_is_announced() -> None:
    assert told(Verbosity.NORMAL, Busy("looking at 50,000 pages")) == "busy: looking at 50,000 pages"
    assert told(Verbosity.QUIET, Busy("looking at 50,000 pages")) == ""


def test_each_v_shows_more() -> None:
    pages = told(Verbosity.PAGES, *EVENTS)
    everything = told(Verbosity.EVERYTHING, *EVENTS)
    assert "captured: https://example.org/a -> example.org/a/index.md" in pages
    assert "retry" not in pages
    assert "robots.txt" not in pages
    assert "retry: https://example.org/c (503)" in everything
    assert "robots.txt of https://example.org: rules apply, crawl delay 2.0s, 1 sitemaps" in everything


def test_a_failure_says_where_the_url_was_found() -> None:
    found = msgspec.structs.replace(FAILED, referrer="https://example.org/a")
    said = "failed: https://example.org/b: not_found (404), found on https://example.org/a"
    assert told(Verbosity.NORMAL, found) == said


def test_a_note_of_the_start_is_not_repeated_at_the_end() -> None:
    started = RunStarted("mirror", "x", "o", resumed=False, pending=0, notes=("robots ignored",))
    ended = msgspec.structs.replace(summary(captured=3), notes=("robots ignored", "something new"))
    text = told(Verbosity.NORMAL, started, ended)
    assert (text.count("robots ignored"), text.count("something new")) == (1, 1)


def test_quiet_says_nothing_about_a_complete_run() -> None:
    assert told(Verbosity.QUIET, *EVENTS, summary(captured=3)) == ""
    assert told(Verbosity.QUIET, *EVENTS, summary("partial", not_found=1)) == "partial: one page failed"


def test_quiet_says_nothing_about_failures_that_the_user_allowed() -> None:
    """Or cron would mail the same dead links every night."""
    allowed = msgspec.structs.replace(summary("limited", not_found=1), excused={"allowed": 1})
    assert told(Verbosity.QUIET, *EVENTS, allowed) == ""
    cut = msgspec.structs.replace(allowed, left_out={"over_cap": 3})
    assert told(Verbosity.QUIET, *EVENTS, cut).startswith("limited: 3 pages left out")


# --- hostile text


@pytest.mark.parametrize(
    "evil",
    ["\x1b[2J", "\x1b]0;title\x07", "a\r\nfailed: b", "\u202egnp", "\u2028", "\x9b2J", "\ud800", "\x00"],
)
@pytest.mark.parametrize("verbosity", [Verbosity.NORMAL, Verbosity.EVERYTHING])
def test_no_event_smuggles_control_characters_or_lines(evil: str, verbosity: Verbosity) -> None:
    events: list[Event] = [
        RunStarted("mirror", evil, evil, resumed=False, pending=0, notes=(evil,)),
        PageSettled(evil, evil, "failed", rule=evil),
        PageSettled(evil, evil, "done", path=evil),
        PageDeferred(evil, evil, 0.0),
        RobotsRead(evil, 200, evil),
        Warned(evil),
    ]
    for event in events:
        assert all(line.isprintable() for line in Narrator(verbosity, PLAIN).lines(event))
    assert progress_line(progress(hosts=(evil,))).isprintable()
    ended = Summary("mirror", evil, 0, {evil: 1}, evil, 1.0, (evil,))
    assert all(line.isprintable() for line in summary_lines(ended, PLAIN, 50))


# --- the live line


def live(columns: int = 80) -> tuple[LiveLine, Terminal, HandClock]:
    terminal, clock = Terminal(), HandClock()
    return (
        LiveLine(Sink(terminal), Narrator(Verbosity.NORMAL, PLAIN), lambda: columns, clock),
        terminal,
        clock,
    )


def test_the_live_line_is_rewritten_at_most_eight_times_a_second() -> None:
    line, terminal, clock = live()
    for tick in range(1000):
        clock.now = tick / 1000
        line(progress(done=tick))
    assert 1 <= terminal.getvalue().count("\r") <= 8


def test_the_live_line_fits_the_terminal() -> None:
    line, terminal, _ = live(columns=20)
    line(progress(hosts=("x" * 500,)))
    assert len(terminal.getvalue().removeprefix("\r\x1b[2K")) == 19


def test_the_live_line_shows_what_a_person_waits_for() -> None:
    line, terminal, _ = live()
    line(progress())
    assert terminal.getvalue().endswith("5 done, 7 queued, 1 failed, 3.5 pages/s, ETA 3m 20s, example.org")


def test_failures_stand_above_the_live_line() -> None:
    line, terminal, clock = live()
    line(progress())
    line(FAILED)
    clock.now = 1.0
    line(progress(done=6))
    line.close()
    shown = terminal.getvalue().split("\r\x1b[2K")
    assert shown[2] == "failed: https://example.org/b: not_found (404)\n"
    assert shown[3].startswith("6 done")
    assert shown[4] == ""


# --- plain lines, JSON, quiet


def test_a_log_gets_progress_every_ten_seconds() -> None:
    stream, clock = io.StringIO(), HandClock()
    lines = PlainLines(Sink(stream), Narrator(Verbosity.NORMAL, PLAIN), clock)
    for second in range(36):
        clock.now = float(second)
        lines(progress(done=second))
    shown = stream.getvalue().splitlines()
    assert [line.partition(" ")[0] for line in shown] == ["10", "20", "30"]
    assert "\r" not in stream.getvalue()


def test_programs_get_one_object_per_event_and_the_summary_last() -> None:
    stream = io.StringIO()
    reporter = JsonLines(Sink(stream), lambda: 1_790_000_000.1254)
    for event in (*EVENTS, progress(), summary("partial", captured=2, not_found=1)):
        reporter(event)
    objects = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [one["event"] for one in objects] == [
        "started",
        "recovered",
        "page",
        "page",
        "retry",
        "robots",
        "warning",
        "progress",
        "summary",
    ]
    assert {one["time"] for one in objects} == {"2026-09-21T14:13:20.125Z"}
    assert objects[-1] == {
        "event": "summary",
        "time": "2026-09-21T14:13:20.125Z",
        "job": "mirror",
        "status": "partial",
        "discovered": 3,
        "outcomes": {"captured": 2, "not_found": 1},
        "output": "output",
        "seconds": 10.0,
        "notes": [],
        "below_fidelity": 0,
        "above_junk": 0,
        "unread": 0,
        "left_out": {},
        "alone": False,
        "amiss": [],
        "excused": {},
    }


@given(st.text())
def test_json_is_one_ascii_line_that_reads_back(text: str) -> None:
    stream = io.StringIO()
    JsonLines(Sink(stream))(Warned(text))
    assert stream.getvalue().isascii()
    assert stream.getvalue().count("\n") == 1
    assert json.loads(stream.getvalue())["message"] == text


@pytest.mark.parametrize(
    ("make", "environ", "verbosity", "as_json", "kind"),
    [
        (Terminal, {}, Verbosity.NORMAL, False, LiveLine),
        (Terminal, {"TERM": "dumb"}, Verbosity.NORMAL, False, PlainLines),
        (io.StringIO, {}, Verbosity.PAGES, False, PlainLines),
        (Terminal, {}, Verbosity.QUIET, False, QuietEnd),
        (Terminal, {}, Verbosity.NORMAL, True, JsonLines),
    ],
)
def test_the_reporter_suits_where_its_words_go(
    make: Callable[[], io.StringIO], environ: dict[str, str], verbosity: Verbosity, as_json: bool, kind: type
) -> None:
    out, err = Sink(io.StringIO()), Sink(make())
    assert type(choose_reporter(verbosity, out, err, environ, as_json=as_json)) is kind


class Failing(io.StringIO):
    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, _: str) -> int:
        raise self.error


def test_a_reader_that_leaves_does_not_stop_a_run() -> None:
    sink = Sink(Failing(BrokenPipeError(32, "Broken pipe")))
    reporter = JsonLines(sink)
    reporter(WARNED)
    reporter(WARNED)
    assert isinstance(sink.failure, BrokenPipeError)


def test_the_speed_is_that_of_this_run_alone() -> None:
    text = told(Verbosity.NORMAL, CAPTURED, FAILED, CAPTURED, summary("partial", captured=1000, not_found=1))
    assert text.endswith("time        10s, 0.2 pages/s")


@pytest.mark.parametrize(
    ("ready_at", "words"), [(0.0, "spacing"), (10.04, "spacing"), (12.0, "spacing for another 2.0s")]
)
def test_a_very_short_wait_is_not_shown(ready_at: float, words: str) -> None:
    assert (
        waiting_words(WaitingHost("a.test", 3, 0, "spacing", ready_at), 10.0) == f"a.test: 3 pending, {words}"
    )


def test_a_long_wait_is_shown_with_host_reason_and_end() -> None:
    until = time.mktime((2026, 11, 18, 14, 3, 20, 0, 0, -1))
    wait = HostWaits("docs.example.org", "answered 429", until, 21)
    words = "docs.example.org answered 429: left alone until 14:03:20"
    assert Narrator(Verbosity.NORMAL, PLAIN).lines(wait) == [f"waiting: {words}"]
    assert Narrator(Verbosity.QUIET, PLAIN).lines(wait) == []
    idle = Progress(3, 21, 0, 0, 0.0, 900.0, ("docs.example.org",), wait)
    assert progress_line(idle) == f"3 done, 21 queued, 0 failed, {words}"


@pytest.mark.parametrize(
    ("why", "told"),
    [
        (
            "answered 503",
            "answered 503, left alone for another 2m 00s",
        ),
        ("spacing", "waiting for the next run for another 2m 00s"),
        ("retry", "waiting for retry for another 2m 00s"),
    ],
)
def test_status_says_what_a_host_waits_for_in_one_sentence(why: str, told: str) -> None:
    wait = HostWait("docs.example.org", 12, 0, 220.0, why)
    words = waiting_words(waiting_host(wait, process=None), 100.0)
    assert words == f"docs.example.org: 12 pending, {told}"
