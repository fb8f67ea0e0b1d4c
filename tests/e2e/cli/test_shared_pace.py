"""Jobs that run side by side ask one host as one job would, kills included: by the log of its server."""

from itertools import pairwise
from pathlib import Path

from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.folder_site import FolderSite, folder_site

PAUSE = 0.3
PAGES = 5


def write(site: FolderSite) -> None:
    links = "".join(f'<a href="{number}.html">{number}</a> ' for number in range(PAGES))
    site.write("index.html", f"<h1>Start</h1><p>Some words to begin with.</p>{links}")
    for number in range(PAGES):
        site.write(
            f"{number}.html", f"<h1>{number}</h1><p>All that is said on page {number} of the site.</p>"
        )


def test_three_jobs_and_a_kill_never_ask_sooner_than_the_pause(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with folder_site(tmp_path / "site") as site:
        write(site)
        words = (site.url, "--rate-limit", f"{1 / PAUSE:.4f}", "--processes", "0", "--json")
        first = spawn_sumi("mirror", *words, "-o", "one", env=state)
        wait_until(first, lambda: len(site.times) >= 2)
        second = spawn_sumi("mirror", *words, "-o", "two", env=state)
        wait_until(second, lambda: len(site.times) >= 5)
        first.process.kill()
        again = run_sumi("mirror", *words, "-o", "one", env=state)
        assert second.process.wait(60) == 0, second.stderr.read_text()
        times = list(site.times)
    assert again.returncode == 0, again.stderr
    assert again.events[-1]["outcomes"]["captured"] == PAGES + 1
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) >= PAUSE - 0.001, gaps


def test_a_state_folder_that_cannot_be_used_costs_a_warning_only(run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with folder_site(tmp_path / "site") as site:
        write(site)
        words = ("--rate-limit", "50", "--processes", "0", "--json")
        done = run_sumi("mirror", site.url, *words, env={"XDG_STATE_HOME": str(tmp_path / "state")})
        quiet = run_sumi(
            "mirror", site.url, *words, "--no-shared-pace", env={"XDG_STATE_HOME": str(tmp_path / "state")}
        )
    assert done.returncode == 0
    warned = [event["message"] for event in done.events if event["event"] == "warning"]
    assert any("other jobs on this machine keep a pace of their own" in message for message in warned)
    assert not any(event["event"] == "warning" for event in quiet.events)
