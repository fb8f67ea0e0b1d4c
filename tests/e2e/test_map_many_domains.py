"""Thousands of domains over real sockets: each is asked politely, and none is forgotten."""

from collections import Counter
from pathlib import Path

from tests.commands import RunSumi
from tests.e2e.map_site import Page, running_web
from tests.engine.terrain_world import tables

DOMAINS = 2000


def test_two_thousand_domains_are_all_mapped(tmp_path: Path, run_sumi: RunSumi) -> None:
    names = [f"d{n}.test" for n in range(DOMAINS)]
    pages = {f"{name}/": Page(("hub.test/",)) for name in names}
    pages["hub.test/"] = Page(tuple(f"{name}/" for name in names))
    with running_web(pages, tmp_path, tls=False) as web:
        config = web.config(tmp_path, {"hub.test": "hub.test/"}, max_depth=1, max_concurrent_pages_open=100)
        done = run_sumi("map", str(config), "--json", timeout=400)
        assert done.returncode == 0, done.stderr
        asked = Counter(asked.address.partition("/")[0] for asked in web.log)
    database = tmp_path / "map.db"
    assert tables(database, "SELECT state, count(*) FROM pages GROUP BY state") == [
        ("Processed", DOMAINS + 1)
    ]
    assert tables(database, "SELECT count(*) FROM links") == [(2 * DOMAINS,)]
    assert tables(database, "SELECT depth, count(*) FROM page_depths GROUP BY 1") == [
        (0, 1),
        (1, DOMAINS),
    ]
    # robots.txt, HEAD and GET, once each.
    assert set(asked.values()) == {3}
    assert tables(database, "SELECT count(*) FROM domain_states WHERE request_count = 3") == [(DOMAINS + 1,)]
