"""The pauses between requests of any kind are as promised, by the site's own log."""

from itertools import pairwise
from pathlib import Path

from tests.commands import RunSumi, SpawnSumi
from tests.e2e.mirror.test_resume import kill, wait_for_requests
from tests.site import MakeSite, RobotsPreset, RunningSite


def gaps(site: RunningSite) -> list[float]:
    times = sorted(request.monotonic for request in site.requests())
    return [later - earlier for earlier, later in pairwise(times)]


def test_robots_sitemaps_pages_redirects_and_retries_keep_the_pace(
    make_site: MakeSite, run_sumi: RunSumi
) -> None:
    site = make_site(pages=12, seed=2)
    run_sumi("mirror", site.url, "--rate-limit", "20", "--follow-links")
    assert len(gaps(site)) > 12
    assert min(gaps(site)) >= 0.05


def test_the_pace_holds_across_a_kill_and_a_restart(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    site = make_site(pages=10, seed=2)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "4")
    wait_for_requests(site, running, 4)
    kill(running)
    run_sumi("mirror", site.url, "--rate-limit", "4")
    assert min(gaps(site)) >= 0.25


def test_crawl_delay_is_obeyed(make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    site = make_site(pages=4, seed=2, robots=RobotsPreset.CRAWL_DELAY)
    run_sumi("mirror", site.url, "--rate-limit", "0", "--max-pages", "2")
    assert min(gaps(site)[1:]) >= 1.0


def test_pages_may_have_their_own_pace(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=8, seed=2)
    run_sumi("mirror", site.url, "--rate-limit", "100", "--content-rate-limit", "5")
    pages = [r.monotonic for r in site.requests() if r.path in site.truth.captured_by_sitemap]
    assert min(b - a for a, b in pairwise(pages)) >= 0.2
