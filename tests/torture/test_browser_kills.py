"""A browser that is killed costs nothing but time; one that starts no more ends the run in good order."""

import os
import random
import signal
from pathlib import Path

import pytest

from tests.browsers import BROWSER, needs_browser
from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.site import MakeSite, SitemapPreset
from tests.thoroughness import usually
from tests.torture.browser_kills import VICTIMS, Victim, alive, killed

pytestmark = needs_browser


@pytest.mark.parametrize("moment", usually([0], [0, 0.5]))
@pytest.mark.parametrize("victim", usually(VICTIMS[:2], VICTIMS), ids=lambda victim: victim.name)
def test_whatever_is_killed_the_pages_are_there_and_were_asked_for_once(
    make_site: MakeSite, tmp_path: Path, victim: Victim, moment: float
) -> None:
    site = make_site(pages=1, sitemap=SitemapPreset.NONE)
    assert killed(site, tmp_path / "output", victim, moment, random.Random(1)) == []


def test_a_browser_that_cannot_be_started_any_more_ends_the_run_and_the_next_goes_on(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, sitemap=SitemapPreset.NONE)
    broken = tmp_path / "broken"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\n[ -e {broken} ] && exit 7\nexec {BROWSER} "$@"\n')
    browser.chmod(0o755)
    words = ("mirror", f"{site.url}/app/routed", "--json", "--rate-limit", "0", "--follow-links")
    options = ("--render", "fast", "--render-tabs", "1", "--wait-for", "main h1", "--browser", str(browser))
    run = spawn_sumi(*words, *options)
    wait_until(run, lambda: bool(site.requests_to("/app/router")))
    broken.touch()
    for pid in alive(run.process.pid, VICTIMS[0]):
        os.kill(pid, signal.SIGKILL)
    assert run.process.wait(timeout=90) == 4
    said = run.stderr.read_text()
    assert "the browser can no longer be started" in said
    assert "Traceback" not in said
    broken.unlink()
    assert run_sumi(*words, *options).returncode == 0
