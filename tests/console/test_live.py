"""The live display shows what happens, fits its terminal, and leaves nothing behind."""

import io
import subprocess
import sys

import pytest
from rich.console import Console

from sumi.console.live import Board, LiveDisplay
from sumi.console.narration import Narrator, Verbosity
from sumi.console.next_steps import same_again, steps_of_mirror
from sumi.console.reporters import LiveLine, PlainLines, choose_reporter
from sumi.console.terminal import Palette, Sink
from sumi.events import PageSettled, Progress, Summary, WaitingHost, Warned

HOSTS = (
    WaitingHost("a.example.org", 12, 1, "in flight", 0.0),
    WaitingHost("b.example.org", 3, 0, "answered 503", 160.0),
)
PROGRESS = Progress(30, 60, 10, 2, 3.5, 200.0, ("a.example.org",), waiting=HOSTS)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(width: int = 100, height: int = 30) -> list[str]:
    board = Board(clock=lambda: 100.0)
    board.progress = PROGRESS
    for number in range(5):
        board.note(PageSettled(f"https://a.example.org/{number}", "captured", "done"))
    for _ in range(10):
        board.note(PageSettled("https://a.example.org/x", "not_found", "failed"))
    file = io.StringIO()
    Console(file=file, width=width, height=height, force_terminal=False).print(board)
    return file.getvalue().splitlines()


def test_the_board_shows_bar_rates_hosts_pages_and_failures() -> None:
    lines = shown()
    assert lines[0].endswith(" 40% ETA 3m 20s")
    assert lines[1] == "30 done, 60 queued, 10 failed, 3.5 pages/s"
    assert lines[2] == "  a.example.org: 12 queued, 1 in flight, fetching"
    assert lines[3] == "  b.example.org: 3 pending, answered 503, left alone for another 1m 00s"
    assert lines[4:7] == [f"  https://a.example.org/{number}" for number in (2, 3, 4)]
    assert lines[7:] == ["failed: 10 not_found"]


@pytest.mark.parametrize("width", [10, 30, 49, 50, 60, 200])
@pytest.mark.parametrize("height", [3, 10, 40])
def test_the_board_fits_any_terminal(width: int, height: int) -> None:
    lines = shown(width, height)
    assert all(len(line.rstrip()) <= width for line in lines)
    assert len(lines) <= (1 if width < 50 else 3 if height < 14 else 8)


def test_text_of_a_site_cannot_control_the_terminal() -> None:
    board = Board()
    board.progress = PROGRESS
    board.note(PageSettled("https://a.example.org/\x1b[2J[red]", "captured", "done"))
    file = io.StringIO()
    Console(file=file, width=100, height=30).print(board)
    assert "\\x1b[2J[red]" in file.getvalue()


def test_lines_scroll_by_above_and_the_board_is_gone_at_the_end() -> None:
    screen = Terminal()
    narrator = Narrator(Verbosity.NORMAL, Palette(colours=False))
    clock = iter(range(100))
    display = LiveDisplay(Sink(screen), narrator, colours=False, clock=lambda: float(next(clock)))
    display(PROGRESS)
    display(Warned("slow [host]"))
    display(PROGRESS)
    display(Summary("mirror", "complete", 1, {"captured": 1}, "output", 1.0))
    display.close()
    text = screen.getvalue()
    assert "warning: slow [host]" in text
    assert text.rindex("complete: ") > text.rindex("30 done")
    assert "\x1b[?25h" in text[text.rindex("30 done") :]  # the cursor is back
    assert not {"\x1b[31m", "\x1b[32m"} & set(text.split("m"))


@pytest.mark.parametrize(
    ("progress", "environ", "kind"),
    [
        ("live", {"TERM": "xterm"}, LiveDisplay),
        ("line", {"TERM": "xterm"}, LiveLine),
        ("none", {"TERM": "xterm"}, PlainLines),
        ("live", {"TERM": "dumb"}, PlainLines),
        ("live", {"TERM": "unknown"}, PlainLines),
    ],
)
def test_the_terminal_and_the_option_decide(progress: str, environ: dict[str, str], kind: type) -> None:
    out, err = Sink(Terminal()), Sink(Terminal())
    chosen = choose_reporter(Verbosity.NORMAL, out, err, environ, as_json=False, progress=progress)
    assert type(chosen) is kind
    pipe = Sink(io.StringIO())
    plain = choose_reporter(Verbosity.NORMAL, out, pipe, environ, as_json=False, progress=progress)
    assert type(plain) is PlainLines


def test_nothing_but_a_terminal_loads_rich() -> None:
    code = (
        "import sys, sumi.jobs.mirror.command, sumi.console.reporters, sumi.cli.main; "
        "sys.exit(any(name.startswith('rich') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_the_next_command_is_the_one_typed_without_what_was_for_once() -> None:
    words = ["docs.example.org", "--fresh", "--auth", "me:secret", "--header=X: y", "-o", "my docs"]
    again = same_again("mirror", words)
    assert again == "sumi mirror docs.example.org --auth ... --header=... -o 'my docs'"
    steps = dict(steps_of_mirror(ended("complete"), words, "my docs"))
    assert steps["update"] == f"{again} --update"
    assert steps["look"] == "sumi serve 'my docs'"
    assert dict(steps_of_mirror(ended("interrupted"), words, "x")) == {"continue": again}


@pytest.mark.parametrize("typed", [("--max-pages", "5"), ("--max-pages=5",), ()])
def test_a_job_that_reached_its_limit_goes_on_with_a_larger_one(typed: tuple[str, ...]) -> None:
    summary = ended("limited", {"captured": 5, "over_cap": 70}, {"over_cap": 70})
    steps = steps_of_mirror(summary, ["docs.example.org", *typed, "-v"], "output")
    assert steps[0] == ("more", "sumi mirror docs.example.org -v --max-pages 75")


def ended(
    status: str, outcomes: dict[str, int] | None = None, left_out: dict[str, int] | None = None
) -> Summary:
    return Summary("mirror", status, 0, outcomes or {}, "output", 1.0, left_out=left_out or {})
