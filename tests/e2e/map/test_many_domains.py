"""Thousands of domains over real sockets, each with its own pace, request limit and failures."""

from collections import defaultdict
from itertools import pairwise
from pathlib import Path

from tests.commands import RunSumi
from tests.e2e.map.map_site import Asked, Page, running_web
from tests.jobs.map.map_world import tables
from tests.thoroughness import usually

DOMAINS = usually(400, 2000)
SECONDS_BETWEEN = 0.1
# Clocks of two processes are read a moment apart.
HAIR = 0.002
# robots.txt, HEAD and GET of the first page, HEAD of the second: then this run may ask no more.
BUDGET = 4


def is_busy(name: str) -> bool:
    return name.endswith("7.test")  # one in ten answers 429


def web_of(names: list[str]) -> dict[str, Page]:
    pages = {f"{name}/": Page(("/second", "/third"), status=429 if is_busy(name) else 200) for name in names}
    pages |= {f"{name}/second": Page() for name in names}
    return pages | {"hub.test/": Page(tuple(f"{name}/" for name in names))}


def by_domain(log: list[Asked]) -> dict[str, list[Asked]]:
    asked: dict[str, list[Asked]] = defaultdict(list)
    for one in log:
        asked[one.address.partition("/")[0]].append(one)
    return asked


def test_many_domains_are_independent_of_each_other(tmp_path: Path, run_sumi: RunSumi) -> None:
    names = [f"d{number}.test" for number in range(DOMAINS)]
    with running_web(web_of(names), tmp_path, tls=False) as web:
        config = web.config(
            tmp_path, {"hub.test": "hub.test/"}, max_concurrent_pages_open=100, max_domain_requests=BUDGET
        )
        done = run_sumi("map", str(config), "-q", timeout=500)
        assert done.returncode in (0, 1), done.stderr
        asked = by_domain(web.log)
    busy = {name for name in names if is_busy(name)}
    assert set(asked) == {*names, "hub.test"}
    for name, requests in asked.items():
        gaps = [later.at - earlier.at for earlier, later in pairwise(requests)]
        assert min(gaps) >= SECONDS_BETWEEN - HAIR, f"{name} was asked twice within {min(gaps):.3f} s"
    wanted = [("GET", "/robots.txt"), ("HEAD", "/"), ("GET", "/"), ("HEAD", "/second")]
    for name in names:
        methods = [(one.method, one.address.removeprefix(name)) for one in asked[name]]
        assert methods == (wanted[:2] if name in busy else wanted)

    database = tmp_path / "map.db"
    limited = tables(database, "SELECT domain FROM domain_states WHERE rate_limited")
    assert {domain for (domain,) in limited} == busy
    well = DOMAINS - len(busy)
    assert dict(tables(database, "SELECT state, count(*) FROM pages GROUP BY state")) == {
        "Processed": well + 1,
        "RateLimited": len(busy),
        "RequestLimitHit": 2 * well,
    }
    assert tables(database, "SELECT count(*) FROM links") == [(DOMAINS + 2 * well,)]
    assert tables(database, "SELECT depth, count(*) FROM page_depths GROUP BY 1") == [
        (0, 1),
        (1, DOMAINS),
        (2, 2 * well),
    ]
    assert tables(database, "SELECT * FROM frontier") == []
