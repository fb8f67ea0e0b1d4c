"""Many hosts at once, each at its promised pace, by the sites' own logs."""

from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.e2e.map.map_site import Page, running_web
from tests.e2e.mirror.test_resume import kill
from tests.site import MakeSite, RunningSite

HOSTS = 150
DISTANCE = 0.5  # seconds between requests to one host


def arrivals(site: RunningSite) -> dict[str, list[float]]:
    times: dict[str, list[float]] = defaultdict(list)
    for request in site.requests():
        times[request.host].append(request.monotonic)
    return {host: sorted(each) for host, each in times.items()}


def pinned(names: list[str], port: int) -> list[str]:
    """The options that resolve these names to the test site."""
    return [word for name in names for word in ("--resolve", f"{name}:{port}:127.0.0.1")]


def test_150_hosts_each_at_their_own_pace(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=1, seed=1, body_size=512)
    hub = f"hub-{HOSTS}.test"
    done = run_sumi(
        "mirror",
        f"http://{hub}:{site.port}/",
        "--follow-links",
        *(
            "--hosts",
            f"*.test:{site.port}",
            "--rate-limit",
            str(1 / DISTANCE),
            "--concurrency",
            "64",
            "--json",
        ),
        *pinned([hub, *(f"h{n}.test" for n in range(1, HOSTS + 1))], site.port),
    )
    assert done.events[-1]["outcomes"]["captured"] == 1 + 5 * HOSTS, done.stderr
    times = arrivals(site)
    assert len(times) == HOSTS + 1
    assert min(b - a for each in times.values() for a, b in pairwise(each)) >= DISTANCE


def test_a_request_limit_ends_a_run_early_and_the_next_run_continues(
    make_site: MakeSite, run_sumi: RunSumi
) -> None:
    site = make_site(pages=10, seed=3)
    first = run_sumi("mirror", site.url, "--rate-limit", "0", "--max-requests-per-host", "8", "--json")
    summary = first.events[-1]
    assert len(site.requests()) == 8
    assert summary["outcomes"]["over_budget"] > 0
    assert sum(summary["outcomes"].values()) == summary["discovered"]
    assert (first.returncode, summary["status"]) == (0, "limited")
    again = run_sumi("mirror", site.url, "--rate-limit", "0", "--json").events[-1]
    assert "over_budget" not in again["outcomes"]
    assert again["outcomes"]["captured"] == len(site.truth.captured_by_sitemap)


def test_a_page_with_too_many_links_is_named(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=1, seed=1)
    url = f"{site.url}/bad/many-links-100000"
    done = run_sumi("mirror", url, "--rate-limit", "0", "--max-pages", "1", "--json")
    warnings = [event["message"] for event in done.events if event["event"] == "warning"]
    assert f"{url}: the first 5,000 links were taken, 95,000 more were left out" in warnings
    assert sum(done.events[-1]["outcomes"].values()) == done.events[-1]["discovered"]


HOURS = (("Retry-After", "21600"),)


def text(body: str, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Page:
    return Page(status=status, headers=headers, content_type="text/plain", body=body)


@pytest.mark.parametrize(
    ("robots", "last"),
    [
        (text("Sitemap: /list.xml"), "busy.test/list.xml"),
        (text("User-agent: *\nCrawl-delay: 3600"), "busy.test/robots.txt"),
    ],
    ids=["sitemap to ask for again later", "crawl delay"],
)
def test_a_host_that_wants_to_wait_for_hours_delays_no_other(
    spawn_sumi: SpawnSumi, tmp_path: Path, robots: Page, last: str
) -> None:
    """``last``: the request to the busy host after which it is left alone."""
    wanted = [f"good.test/{number}" for number in range(2, 7)]
    with running_web(
        {
            "good.test/": Page(("busy.test/", "/1")),
            "good.test/1": Page(tuple(f"/{number}" for number in range(2, 7))),
            **dict.fromkeys(wanted, Page()),
            "busy.test/": Page(),
            "busy.test/robots.txt": robots,
            "busy.test/list.xml": text("later", 503, HOURS),
        },
        tmp_path,
        tls=False,
    ) as web:
        web.held.add("good.test/1")  # nothing else of the good host is known before
        running = spawn_sumi(
            *("mirror", web.url("good.test/"), "--rate-limit", "0"),
            *("--hosts", f"*.test:{web.port}", *pinned(["good.test", "busy.test"], web.port)),
        )
        wait_until(running, lambda: bool(web.asked(last)))
        web.held.clear()
        wait_until(running, lambda: all(map(web.asked, wanted)))
        kill(running)
        order = [asked.address for asked in web.log]
    assert "busy.test/" not in order, order
    assert order.count(last) == 1
    assert order.index(last) < min(map(order.index, wanted))
