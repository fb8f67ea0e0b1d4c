"""A map that is killed repeats no more requests than there were pages in flight, and a finished one none."""

import os
import signal
from collections import Counter
from pathlib import Path

from tests.commands import RunSumi, SpawnSumi
from tests.e2e.map_site import Page, Web, running_web, wait_for_more

HOSTS = [f"h{n}.test" for n in range(30)]
AT_ONCE = 3
KILLS = 5


def many_hosts() -> dict[str, Page]:
    pages = {f"{host}/": Page(("/1", "/2")) for host in HOSTS}
    pages |= {f"{host}/{n}": Page() for host in HOSTS for n in (1, 2)}
    return pages | {"good.test/": Page(tuple(f"{host}/" for host in HOSTS))}


def repeated(web: Web) -> int:
    asked = Counter((asked.method, asked.address) for asked in web.log)
    return sum(count - 1 for count in asked.values())


def test_a_kill_repeats_at_most_the_pages_in_flight(
    tmp_path: Path, run_sumi: RunSumi, spawn_sumi: SpawnSumi
) -> None:
    with running_web(many_hosts(), tmp_path, tls=False) as web:
        config = web.config(
            tmp_path,
            {"good.test": "good.test/"},
            max_concurrent_pages_open=AT_ONCE,
            minimum_time_on_page=1000,  # so that every host has a page between its HEAD and its GET
        )
        for kill in range(1, KILLS + 1):
            running = spawn_sumi("map", str(config), "--json")
            wait_for_more(web, 33)
            os.killpg(running.process.pid, signal.SIGKILL)
            running.process.wait()
            assert repeated(web) <= kill * AT_ONCE
        assert run_sumi("map", str(config)).returncode == 0
        assert repeated(web) <= KILLS * AT_ONCE
        assert {asked.address for asked in web.log} >= many_hosts().keys()
