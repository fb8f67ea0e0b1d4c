"""A map that many machines share: each has the whole map in the end, that of one machine."""

import asyncio
import itertools
import re
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sumi.jobs.map.config import MapConfig, load_map_config
from sumi.jobs.map.recipe import map_job
from sumi.jobs.map.sharing import shared_map
from sumi.state.cluster.jobs import make_job
from sumi.state.cluster.session import connect
from tests.cluster.planted import SHORT
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


def contents(database: Path) -> dict[str, Any]:
    """All that a map says of the web, by URLs instead of numbers."""
    columns = "url, domain, state, title, status_code, content_type, error_message, content_hash"
    page = f"SELECT {columns} FROM pages"
    # Whether a page was too deep before a shorter way to it was found is chance.
    entered = (
        "SELECT DISTINCT url, h.state, iif(h.state = 'Queued', '', why) FROM page_history h "
        "JOIN pages ON pages.id = page_id "
        "WHERE h.state <> 'DepthExceeded' OR pages.state = 'DepthExceeded'"
    )
    queue = "SELECT url, priority FROM frontier JOIN pages ON pages.id = page_id"
    return {
        "pages": sorted(tables(database, page), key=str),
        "links": sorted(recorded_links(database)),
        "depths": recorded_depths(database),
        "least": dict(tables(database, "SELECT url, depth FROM urls")),
        "domains": sorted(tables(database, "SELECT domain, request_count, rate_limited FROM domain_states")),
        "queue": sorted(tables(database, queue)),
        "blacklisted": tables(database, "SELECT url, reference_count FROM blacklisted_urls"),
        "stubbed": tables(database, "SELECT url, reference_count FROM stubbed_urls"),
        "states": sorted(tables(database, entered)),
        "runs": tables(database, "SELECT id, config_hash, status FROM runs"),
        "broken": tables(database, "PRAGMA foreign_key_check"),
    }


def different(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    def only(found: Any, without: Any) -> list[Any]:
        items = [list(part.items()) if isinstance(part, dict) else part for part in (found, without)]
        return [item for item in items[0] if item not in items[1]]

    return {
        part: (only(one[part], other[part]), only(other[part], one[part]))
        for part in other
        if one[part] != other[part]
    }


def requests_by_domain(web: Web) -> Counter[str]:
    """From the log of the sites' own server."""
    return Counter(one.address.partition("/")[0] for one in web.log)


def plant(address: str, name: str, config: MapConfig) -> None:
    """The job, with times that let half a minute's rules take seconds."""

    async def make() -> None:
        connection = await connect(address, SHORT)
        recipe = shared_map(config, address, name, joins=False).recipe
        assert recipe is not None
        text = msgspec.json.encode(msgspec.structs.replace(recipe, timing=SHORT)).decode()
        await make_job(connection, name, "map", text, "", map_job(config).recipe.seeds, 0)
        await connection.close()

    asyncio.run(make())


def newest_worker(postgres: Postgres, job: str) -> int:
    """Numbers of workers grow."""
    text = f"SELECT max(w.id) FROM sumi.worker w JOIN sumi.job j ON j.id = w.job WHERE j.name = '{job}'"
    return int(postgres.sql(text) or 0)


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
        assert different(found, wanted).keys() <= {"domains"}
        # A host that changes hands between the HEAD and the GET of a page may be sent that HEAD again. What
        # the map says of its requests is what the server saw.
        said = {domain: requests for domain, requests, _ in found["domains"]}
        assert said == requests_by_domain(web)
        assert [limited for *_, limited in found["domains"]] == [limited for *_, limited in wanted["domains"]]
        assert coverage(tmp_path / folder / "map-summary.md") == coverage(tmp_path / "alone/map-summary.md")
    asked = [one.address for one in web.log if one.method == "GET"]
    assert len(asked) == len(set(asked))
    plain = load_map_config(tmp_path / "alone/web.toml")
    assert load_map_config(tmp_path / "two/map.toml").config_hash == plain.config_hash


def test_a_database_of_an_earlier_version_is_set_up_once_more(
    postgres: Postgres, run_sumi: RunSumi, tmp_path: Path
) -> None:
    postgres.create("earlier")
    address = postgres.address("earlier")
    assert run_sumi("state", "setup", address).returncode == 0
    postgres.sql("DROP TABLE sumi.link, sumi.spent", "earlier")
    with running_web({"good.test/": Page()}, tmp_path, tls=False) as web:
        words = ("map", str(web.config(tmp_path, {"good.test": "good.test/"})), "--state", address, "-q")
        refused = run_sumi(*words)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
        assert "sumi state setup" in refused.stderr
        assert (web.log, (tmp_path / "map.db").exists()) == ([], False)
        said = run_sumi("state", "setup", address)
        assert (said.returncode, "tables of maps" in said.stdout) == (0, True), said.stderr
        assert run_sumi(*words).returncode == 0
        refused = run_sumi("worker", address, "-o", "two", "--seen-memory", "1GiB")
        assert (refused.returncode, "--seen-memory is not for a map" in refused.stderr) == (2, True)
    assert set(states(tmp_path / "map.db").values()) == {"Processed"}


def test_a_map_that_was_stopped_from_elsewhere_goes_on_by_the_same_command_or_alone(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str, web: Web
) -> None:
    address = postgres.address()
    file = str(configured(web, tmp_path / "one"))
    words = ("map", file, "--state", address, "--job", job, "-q")
    web.held.add("h1.test/1")  # so that it cannot end meanwhile
    running = spawn_sumi(*words[:-1])
    wait_until(running, lambda: bool(web.asked("h1.test/1")))
    for wish in ("pause", "resume", "stop"):  # from another machine
        assert run_sumi(wish, address, "--job", job).returncode == 0
    wait_until(running, lambda: "stopped for all" in running.stdout.read_text() + running.stderr.read_text())
    web.held.clear()
    assert running.process.wait(timeout=60) == 3, running.stderr.read_text()
    stopped = run_sumi("worker", address, "--job", job, "-q")
    assert (stopped.returncode, "is stopped" in stopped.stderr) == (2, True)
    assert "interrupted" in run_sumi("status", address, "--job", job).stdout
    assert "interrupted" in run_sumi("status", str(tmp_path / "one/map.db")).stdout
    shutil.copytree(tmp_path / "one", tmp_path / "left")
    asked = len(web.log)
    alone = ("map", str(tmp_path / "left/web.toml"), "-q")
    refused = run_sumi(*alone)
    assert (refused.returncode, f"--job {job}" in refused.stderr) == (2, True), refused.stderr
    assert len(web.log) == asked
    assert run_sumi(*alone, "--resume").returncode == 1
    once = [one.address for one in web.log if one.method == "GET"]
    assert len(once) == len(set(once))
    wanted = contents(tmp_path / "left/map.db")
    del web.log[asked:]
    done = run_sumi(*words)
    assert done.returncode == 1, done.stderr
    found = contents(tmp_path / "one/map.db")
    assert different(found, wanted) == {}
    once = [one.address for one in web.log if one.method == "GET"]
    assert len(once) == len(set(once))
    asked = len(web.log)
    assert run_sumi(*words).returncode == 1  # it is over
    assert contents(tmp_path / "one/map.db") == found
    assert len(web.log) == asked
    explained = run_sumi("explain", web.url("h6.test/1"), "--in", address, "--job", job)
    assert "too_deep" in explained.stdout, explained.stdout + explained.stderr
    assert run_sumi("map", "analyze", "one/map.db").returncode == 0
    assert run_sumi("map", "export", "--format", "csv", "one/map.db").returncode == 0


def test_limits_hold_for_all_workers_together(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str, web: Web
) -> None:
    web.pages["h4.test/"] = Page(("/1",), status=429)
    address, most = postgres.address(), 6
    alone = run_sumi(
        "map",
        str(configured(web, tmp_path / "alone", max_domain_requests=most, minimum_time_on_page=150)),
        "-q",
    )
    web.log.clear()
    file = str(configured(web, tmp_path / "one", max_domain_requests=most, minimum_time_on_page=150))
    web.held.add("h1.test/1")  # so that it cannot end meanwhile
    first = spawn_sumi("map", file, "--state", address, "--job", job, "-q")
    wait_until(first, lambda: bool(web.asked("h1.test/1")))
    alone_there = newest_worker(postgres, job)
    second = spawn_sumi("worker", address, "--job", job, "-q", "-o", "two", "--ca-file", str(web.ca_file))
    wait_until(second, lambda: newest_worker(postgres, job) > alone_there)
    asked = len(web.log)
    wait_until(second, lambda: len(web.log) > asked + 3)
    wait_until(first, lambda: "answered 429" in run_sumi("status", address, "--job", job).stdout)
    second.process.send_signal(signal.SIGINT)  # its hosts go back, with what was asked of them
    web.held.clear()
    assert second.process.wait(timeout=60) == 3
    assert first.process.wait(timeout=60) == alone.returncode, first.stderr.read_text()
    hosts = {one.address.partition("/")[0] for one in web.log}
    assert len(hosts) > 4
    for host in hosts:
        of_host = [one for one in web.log if one.address.startswith(f"{host}/")]
        assert sum(not one.address.endswith("robots.txt") for one in of_host) <= most
        assert all(after.at - before.at >= 0.15 for before, after in itertools.pairwise(of_host)), host
    found, wanted = contents(tmp_path / "one/map.db"), contents(tmp_path / "alone/map.db")
    assert found["domains"] == wanted["domains"]
    assert coverage(tmp_path / "one/map-summary.md") == coverage(tmp_path / "alone/map-summary.md")


def test_a_killed_worker_costs_the_pages_in_its_hands_and_no_more(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str, web: Web
) -> None:
    alone = run_sumi("map", str(configured(web, tmp_path / "alone")), "-q")
    wanted = contents(tmp_path / "alone/map.db")
    web.log.clear()
    file, address = configured(web, tmp_path / "one"), postgres.address()
    plant(address, job, load_map_config(file))
    words = ("worker", address, "--job", job, "-q", "--ca-file", str(web.ca_file), "--no-shared-pace")
    web.held.add("h1.test/1")  # so that it cannot end meanwhile
    first = spawn_sumi("map", str(file), "--state", address, "--job", job, "-q")
    wait_until(first, lambda: bool(web.asked("h1.test/1")))
    for number in range(2):
        asked, before = len(web.log), newest_worker(postgres, job)
        doomed = spawn_sumi(*words, "-o", f"killed-{number}")
        wait_until(doomed, partial(lambda known: newest_worker(postgres, job) > known, before))
        wait_until(first, partial(lambda known: len(web.log) > known + 3, asked))
        doomed.process.kill()
        doomed.process.wait()
    last = spawn_sumi(*words, "-o", "two")
    web.held.clear()
    assert last.process.wait(timeout=90) == first.process.wait(timeout=90) == alone.returncode
    for folder in ("one", "two"):
        found = contents(tmp_path / folder / "map.db")
        # The request that was under way when its worker died is not counted.
        assert {part for part in different(found, wanted) if part != "domains"} == set()
    asked_for = Counter(one.address for one in web.log if one.method == "GET" and "robots" not in one.address)
    assert max(asked_for.values()) <= 3
    for host in {one.address.partition("/")[0] for one in web.log}:
        of_host = [one for one in web.log if one.address.startswith(f"{host}/")]
        assert all(after.at - before.at >= 0.1 for before, after in itertools.pairwise(of_host)), host


@pytest.mark.parametrize(
    ("words", "extra", "said"),
    [
        (("--job", "web"), "", "--state"),
        (("--state", "sqlite"), "", "postgresql://"),
        (("--state", "postgresql://127.0.0.1:1/none", "--update"), "", "--update"),
        (("--state", "postgresql://127.0.0.1:1/none", "--fresh"), "", "--fresh"),
        (("--state", "postgresql://127.0.0.1:1/none", "--resume"), "", "--resume"),
        (("--state", "postgresql://127.0.0.1:1/none", "--store", "s3://pages"), "", "no option --store"),
        (("--state", "postgresql://127.0.0.1:1/none"), "[content]\nkeep = true\n", "keep"),
    ],
)
def test_half_a_shared_map_is_refused_in_a_sentence(
    run_sumi: RunSumi, web: Web, tmp_path: Path, words: tuple[str, ...], extra: str, said: str
) -> None:
    refused = run_sumi("map", str(configured(web, tmp_path / "one", extra=extra)), *words)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert said in refused.stderr
    assert not (tmp_path / "one/map.db").exists()


def test_a_folder_with_another_map_and_a_job_of_another_map_are_left_alone(
    postgres: Postgres, run_sumi: RunSumi, tmp_path: Path, job: str
) -> None:
    with running_web({"good.test/": Page(("/a",)), "good.test/a": Page()}, tmp_path, tls=False) as web:
        shared = ("--state", postgres.address(), "--job", job, "-q")
        (tmp_path / "one").mkdir()
        file = str(web.config(tmp_path / "one", {"good.test": "good.test/"}))
        assert run_sumi("map", file, "-q").returncode == 0
        refused = run_sumi("map", file, *shared)
        assert (refused.returncode, "holds another map" in refused.stderr) == (2, True)
        (tmp_path / "two").mkdir()
        file = str(web.config(tmp_path / "two", {"good.test": "good.test/"}))
        assert run_sumi("map", file, *shared).returncode == 0
        other = str(web.config(tmp_path / "two", {"good.test": "good.test/"}, max_depth=1))
        refused = run_sumi("map", other, *shared)
        assert (refused.returncode, "another configuration" in refused.stderr) == (2, True)
        down = run_sumi("state", "migrate", postgres.address(), "back", "--job", job)
        assert (down.returncode, down.stderr.count("\n")) == (2, 1), down.stderr
        assert not (tmp_path / "back").exists()
        # It is over, and what it left is a map as any other.
        assert run_sumi("map", other, "--update", "-q").returncode == 0
        assert run_sumi("map", "diff", "1", "2", other).returncode == 0
        refused = run_sumi("map", file, *shared)
        assert (refused.returncode, "holds another map" in refused.stderr) == (2, True)
