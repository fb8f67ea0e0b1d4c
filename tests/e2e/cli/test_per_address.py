"""Virtual hosts of one server are asked as one host would be: by its log, with several jobs and a kill."""

from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.e2e.map.map_site import Page, running_web
from tests.folder_site import FolderSite, folder_site

PAUSE = 0.2
PAGES = 3
HOSTS = ("one.example", "two.example", "three.example")
PACE = ("--rate-limit", f"{1 / PAUSE:.4f}", "--per-address", "1", "--processes", "0", "--json")


def write(site: FolderSite) -> None:
    links = "".join(f'<a href="{number}.html">{number}</a> ' for number in range(PAGES))
    site.write("index.html", f"<p>Some words to begin with.</p>{links}")
    for number in range(PAGES):
        site.write(f"{number}.html", f"<p>All that is said on page {number} of the site.</p>")


def names(site: FolderSite) -> list[str]:
    port = site.url.rsplit(":", 1)[1].rstrip("/")
    return [word for host in HOSTS for word in ("--resolve", f"{host}:{port}:127.0.0.1")]


def at(site: FolderSite, host: str) -> str:
    return site.url.replace("127.0.0.1", host)


def gaps(site: FolderSite) -> list[float]:
    return [later - earlier for earlier, later in pairwise(list(site.times))]


def test_three_jobs_on_three_hosts_of_one_address_and_a_kill(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with folder_site(tmp_path / "site") as site:
        write(site)
        words = (*PACE, *names(site), "--allow-private")
        first, second = (
            spawn_sumi("mirror", at(site, host), *words, "-o", host, env=state) for host in HOSTS[:2]
        )
        wait_until(first, lambda: len(site.times) >= 3)
        third = spawn_sumi("capture", at(site, HOSTS[2]), *words, "--store", "third", env=state)
        wait_until(third, lambda: len(site.times) >= 6)
        first.process.kill()
        again = run_sumi("mirror", at(site, HOSTS[0]), *words, "-o", HOSTS[0], env=state)
        for running in (second, third):
            assert running.process.wait(120) == 0, running.stderr.read_text()
        hosts = {request["host"].partition(":")[0] for request in site.received}
    assert again.returncode == 0, again.stderr
    assert again.events[-1]["outcomes"]["captured"] == PAGES + 1
    assert hosts == set(HOSTS)
    assert min(gaps(site)) >= PAUSE - 0.001, gaps(site)


@pytest.mark.parametrize("shared", ["--shared-pace", "--no-shared-pace"])
def test_the_hosts_of_one_job_share_the_pace(run_sumi: RunSumi, tmp_path: Path, shared: str) -> None:
    with folder_site(tmp_path / "site") as site:
        write(site)
        pages = [at(site, host) for host in HOSTS]
        done = run_sumi("capture", *pages, *PACE, *names(site), "--allow-private", shared)
        assert done.returncode == 0, done.stderr
        assert len(site.times) >= len(HOSTS) * (PAGES + 1)
    assert min(gaps(site)) >= PAUSE - 0.001, gaps(site)


def test_without_it_each_host_has_its_own_pace(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write(site)
        pages = [at(site, host) for host in HOSTS]
        words = (*PACE[:2], *PACE[4:], *names(site), "--allow-private")
        assert run_sumi("capture", *pages, *words).returncode == 0
    assert min(gaps(site)) < PAUSE


def crawl_settings(site: FolderSite, folder: Path) -> None:
    port = site.url.rsplit(":", 1)[1].rstrip("/")
    folder.mkdir()
    (folder / "seeds.txt").write_text("".join(at(site, host) + "\n" for host in HOSTS[:2]))
    settings = {
        "user_agent": "testbot/1.0 (+https://example.org/bot)",
        "workspace": ".",
        "profile": "generic",
        "scope": {"allowed_hosts": [f"{host}:{port}" for host in HOSTS], "allow_patterns": ["."]},
        "limits": {"req_per_sec": 1 / PAUSE, "global_concurrency": 8, "per_host_concurrency": 4},
        "network": {
            "per_address": 1,
            "allow_private": True,
            "resolve": [f"{host}:{port}:127.0.0.1" for host in HOSTS],
        },
    }
    (folder / "crawl.yaml").write_text(yaml.safe_dump(settings))


def test_a_crawl_and_a_mirror_of_other_hosts_share_the_address(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with folder_site(tmp_path / "site") as site:
        write(site)
        crawl_settings(site, tmp_path / "work")
        crawl = spawn_sumi("crawl", "run", "--config", "work/crawl.yaml", env=state)
        wait_until(crawl, lambda: len(site.times) >= 2)
        words = (*PACE, *names(site), "--allow-private", "-o", "mirrored")
        done = run_sumi("mirror", at(site, HOSTS[2]), *words, env=state)
        assert crawl.process.wait(120) == 0, crawl.stderr.read_text()
        asked = {(request["host"].partition(":")[0]) for request in site.received}
    assert done.returncode == 0, done.stderr
    assert asked == set(HOSTS)
    assert min(gaps(site)) >= PAUSE - 0.001, gaps(site)


def test_the_domains_of_a_map_share_it(run_sumi: RunSumi, tmp_path: Path) -> None:
    pages = {f"{host}/{path}": Page((f"{host}/a", f"{host}/b")) for host in HOSTS for path in ("", "a", "b")}
    with running_web(pages, tmp_path) as web:
        config = web.config(tmp_path, {host: f"{host}/" for host in HOSTS}, minimum_time_on_page=200)
        config.write_text(config.read_text().replace("[http]", "[http]\nper-address = 1"))
        done = run_sumi("map", str(config))
        assert done.returncode == 0, done.stderr
        times = [asked.at for asked in web.log]
    assert {asked.address.partition("/")[0] for asked in web.log} == set(HOSTS)
    assert min(later - earlier for earlier, later in pairwise(times)) >= PAUSE - 0.001
