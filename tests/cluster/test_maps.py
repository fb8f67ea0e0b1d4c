"""A map that many machines share: each has the whole map in the end, that of one machine."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.e2e.map.map_site import Page, Web, running_web
from tests.jobs.map.map_world import recorded_depths, recorded_links, states, tables
from tests.postgres import Postgres

HOSTS, PAGES, QUALITY = 7, 6, 2
LISTS = '[[blacklist]]\ndomain = "ads.test"\n[[stub]]\ndomain = "*.wiki.test"\n'


@pytest.fixture
def job(tmp_path: Path) -> str:
    return re.sub(r"\W", "-", tmp_path.name)


def pages() -> dict[str, Page]:
    """Chains along a host and across hosts: the short ways to a page are found after the long ones."""
    found = {}
    for host in range(HOSTS):
        for number in range(PAGES):
            links = [f"h{(host + 1) % HOSTS}.test/{number or ''}", "ads.test/pixel", "wiki.test/Page"]
            if number + 1 < PAGES:
                links.append(f"/{number + 1}")
            if number == PAGES - 1:
                links.append(f"h{(host + 4) % HOSTS}.test/3")
            found[f"h{host}.test/{number or ''}"] = Page(tuple(links))
    found["h1.test/2"] = Page(("/missing", "/3"))
    found["h3.test/2"] = Page(("/3", "h5.test/5", "/gone"))
    found["h4.test/4"] = Page(status=301, headers=(("Location", "/5"),))
    found["h5.test/1"] = Page(content_type="application/pdf")
    return found


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with running_web(pages(), tmp_path) as found:
        yield found


def configured(web: Web, folder: Path, *, extra: str = LISTS, **crawler: int) -> Path:
    folder.mkdir(exist_ok=True)
    quality = {f"h{number}.test": f"h{number}.test/" for number in range(QUALITY)}
    return web.config(folder, quality, extra, **{"max_depth": 5, **crawler})


def contents(database: Path) -> dict[str, object]:
    """All that a map says of the web, by URLs instead of numbers."""
    page = (
        "SELECT url, domain, state, title, status_code, content_type, error_message, content_hash FROM pages"
    )
    return {
        "pages": sorted(tables(database, page), key=str),
        "links": sorted(recorded_links(database)),
        "depths": recorded_depths(database),
        "least": dict(tables(database, "SELECT url, depth FROM urls")),
        "domains": sorted(tables(database, "SELECT domain, request_count, rate_limited FROM domain_states")),
        "queue": sorted(tables(database, queue)),
        "blacklisted": tables(database, "SELECT url, reference_count FROM blacklisted_urls"),
        "stubbed": tables(database, "SELECT url, reference_count FROM stubbed_urls"),
        "states": sorted(
            tables(database, "SELECT url, h.state, why FROM page_history h JOIN pages ON pages.id = page_id")
        ),
        "runs": tables(database, "SELECT id, config_hash, status FROM runs"),
        "broken": tables(database, "PRAGMA foreign_key_check"),
    }


def coverage(summary: Path) -> str:
    return summary.read_text().partition("## ")[2]


def test_three_workers_make_the_map_of_one_process(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str, web: Web
) -> None:
    address = postgres.address()
    alone = run_sumi("map", str(configured(web, tmp_path / "alone")), "-q")
    assert alone.returncode == 1, alone.stderr  # a dead link
    web.log.clear()
    shared = ("map", str(configured(web, tmp_path / "one")), "--state", address, "--job", job, "-q")
    first = spawn_sumi(*shared)
    wait_until(first, lambda: bool(web.log))
    ca_file = ("--ca-file", str(web.ca_file))
    second = spawn_sumi("worker", address, "--job", job, "-q", "-o", "two", *ca_file)
    third = run_sumi("worker", address, "--job", job, "-q", "-o", "three", *ca_file)
    assert third.returncode == 1, third.stderr
    assert second.process.wait(timeout=60) == first.process.wait(timeout=60) == 1, first.stderr.read_text()
    wanted = contents(tmp_path / "alone/map.db")
    assert len(states(tmp_path / "alone/map.db")) > HOSTS * PAGES * 2 / 3
    for folder in ("one", "two", "three"):
        found = contents(tmp_path / folder / "map.db")
        assert {part: found[part] for part in wanted if found[part] != wanted[part]} == {}, wanted
        assert coverage(tmp_path / folder / "map-summary.md") == coverage(tmp_path / "alone/map-summary.md")
    asked = [one.address for one in web.log if one.method == "GET"]
    assert len(asked) == len(set(asked))
