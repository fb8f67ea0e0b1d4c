"""On a terminal a mirror says how fast it may go, and keeps one line current until its end."""

import os
import pty
import re
import signal
import subprocess
from pathlib import Path

from tests.commands import sumi_command, sumi_environment
from tests.site import MakeSite

WIDTH = 100
CLEARED = "\r\x1b[2K"
LINE = re.compile(
    r"(\d+) done, (\d+) queued, (\d+) failed, \d+\.\d pages/s(?:, ETA [\dhms. ]+)?(?:, 127[\d.:]+)?"
)


class Terminal:
    """What a program writes to a terminal that nobody types at."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._screen, inner = pty.openpty()
        self.text = ""
        self.process = subprocess.Popen(
            sumi_command(arguments),
            cwd=folder,
            env=sumi_environment({"COLUMNS": str(WIDTH), "TERM": "xterm"}),
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
        )
        os.close(inner)

    def read_until(self, words: str) -> None:
        """Or to the end."""
        while words not in self.text:
            try:
                piece = os.read(self._screen, 65536)
            except OSError:  # how a terminal ends whose last user has gone
                return
            self.text += piece.decode()

    def read_to_the_end(self) -> int:
        self.read_until("\0")
        os.close(self._screen)
        return self.process.wait(60)


def test_one_line_is_kept_current_and_gone_at_the_end(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=400, seed=3)  # more than can be done before we say stop
    terminal = Terminal(tmp_path, "mirror", site.url, "--rate-limit", "4", "--progress", "line")
    terminal.read_until(", 127.0.0.1:")
    os.killpg(terminal.process.pid, signal.SIGUSR1)
    terminal.read_until("discovered = ")
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.read_to_the_end() == 3, terminal.text
    before, _, after = terminal.text.partition(
        "stopping: finishing the pages in flight; once more stops at once"
    )
    assert f"mirror {site.url}/ into output: starting\r\n" in before
    assert "note: 4 requests a second per host: 14,400 pages an hour at most\r\n" in before
    shown = [piece.partition("\r\n")[0] for piece in before.split(CLEARED)[1:]]
    lines = [line for line in shown if LINE.fullmatch(line)]
    assert lines
    assert all(len(line) < WIDTH for line in shown)
    assert "ETA" in lines[-1]
    # The rest is what scrolls by: it begins where the line was, which is cleared first.
    assert "interrupted: run the same command again to continue" in after
    assert after.rstrip().splitlines()[-1].startswith("  ")


def test_the_live_display_is_gone_at_the_end_and_the_next_command_is_there(
    make_site: MakeSite, tmp_path: Path
) -> None:
    site = make_site(pages=400, seed=3)
    terminal = Terminal(tmp_path, "mirror", site.url, "--rate-limit", "4")
    terminal.read_until(" queued, 1 in flight, fetching")
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.read_to_the_end() == 3, terminal.text
    end = terminal.text[terminal.text.rindex("interrupted: ") :]
    assert f"continue    sumi mirror {site.url} --rate-limit 4\r\n" in end
    assert "queued" not in end


def test_quiet_is_quiet_there_too(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=10, seed=3)
    terminal = Terminal(tmp_path, "mirror", site.url, "--rate-limit", "0", "-q")
    assert terminal.read_to_the_end() in (0, 1)
    assert re.fullmatch(r"(partial: [^\r\n]*\r\n)?", terminal.text)
