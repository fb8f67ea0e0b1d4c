"""A crawl by policy that two machines share, each with the same configuration and a workspace of its own."""

import csv
import re
import signal
from pathlib import Path

import msgspec
import pytest

from tests.cluster.many_hosts import ManyHosts, many_hosts
from tests.cluster.test_commands import SHARING
from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.object_stores import BUCKET, moto
from tests.postgres import Postgres

pytest.importorskip("obstore")

PAUSE = 0.05


@pytest.fixture
def job(tmp_path: Path) -> str:
    return re.sub(r"\W", "-", tmp_path.name)


def configured(folder: Path, name: str, web: ManyHosts) -> str:
    pins = "".join(f"    - {host}:{web.port}:127.0.0.1\n" for host in web.names)
    (folder / name).mkdir()
    (folder / name / "seeds.txt").write_text(f"{web.start}\n")
    file = folder / f"{name}.yaml"
    file.write_text(
        f"workspace: {name}\nseeds_file: seeds.txt\nmode: unified\n"
        "user_agent: SumiTest (+https://example.org/bot)\n"
        f"profile: generic\nscope:\n  allowed_hosts: ['*.web.test:{web.port}']\n"
        f"limits:\n  req_per_sec: {1 / PAUSE}\n"
        f"network:\n  allow_private: true\n  resolve:\n{pins}"
    )
    return str(file)


@pytest.mark.parametrize("unified", [True, False])
def test_two_machines_share_a_crawl(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str, unified: bool
) -> None:
    address = postgres.address()
    with many_hosts(hosts=8, pages=6) as web:
        mode = "--unified" if unified else "--no-unified"
        first, second = (
            ("run", "--config", configured(tmp_path, name, web), mode, "--state", address, "--job", job, "-q")
            for name in ("one", "two")
        )
        running = spawn_sumi(*first)
        wait_until(running, lambda: bool(web.log))
        done = run_sumi(*second)
        assert done.returncode == 0, done.stderr
        assert running.process.wait(timeout=60) == 0
        assert set(web.pages_asked().values()) == {1}
        assert len(web.pages_asked()) == 8 * 6
        web.require_polite(PAUSE)
    assert "complete" in run_sumi("status", address, "--job", job).stdout


def test_a_crawl_keeps_its_archive_in_a_store_and_has_the_pages_of_one_on_one_machine(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str
) -> None:
    address = postgres.address()
    env = {**moto().environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with many_hosts(hosts=6, pages=5) as web:
        alone = run_sumi("run", "--config", configured(tmp_path, "alone", web), "-q")
        assert alone.returncode == 0, alone.stderr
        shared = ("--state", address, "--job", job, "-q")
        first = ("run", "--config", configured(tmp_path, "one", web), *shared)
        web.log.clear()
        running = spawn_sumi(*first, "--store", f"s3://{BUCKET}/{job}", env=env)
        wait_until(running, lambda: bool(web.log))
        # The second machine learns the store from the job.
        second = ("run", "--config", configured(tmp_path, "two", web), *shared)
        done = run_sumi(*second, env=env)
        assert done.returncode == 0, done.stderr
        assert running.process.wait(timeout=60) == 0, running.stderr.read_text()
        assert set(web.pages_asked().values()) == {1}
    assert not list(tmp_path.glob("[ot]*/**/*.html*"))
    wanted = rows(tmp_path / "alone")
    assert len(wanted) == 6 * 5
    assert rows(tmp_path / "one") == rows(tmp_path / "two") == wanted  # each lists all pages in the end
    done = run_sumi("export", "jsonl", address, "--job", job, "-o", "shared.jsonl", env=env)
    assert done.returncode == 0, done.stderr
    assert run_sumi("export", "jsonl", "alone", "-o", "alone.jsonl").returncode == 0
    assert texts(tmp_path / "shared.jsonl") == texts(tmp_path / "alone.jsonl")
    found = run_sumi("search", '"page 3 of h2.web.test"', "--in", f"{address}#{job}", env=env)
    assert f"http://h2.web.test:{web.port}/3" in found.stdout, found.stderr
    checked = run_sumi("state", "check", address, "--job", job, "--deep", env=env)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert run_sumi("state", "gc", address, "--job", job, env=env).stdout.startswith("0 segments")


@pytest.mark.parametrize("backend", ["files", "sqlite"])
def test_a_half_done_crawl_goes_on_in_the_database_and_comes_back_as_a_workspace(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str, backend: str
) -> None:
    address = postgres.address()
    with many_hosts(hosts=4, pages=6) as web:
        file = configured(tmp_path, "here", web)
        running = spawn_sumi("run", "--config", file, "-q")
        wait_until(running, lambda: len(web.log) > 8)
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(timeout=60) == 3
        store = ("--store", f"file://{tmp_path}/store")
        up = run_sumi("state", "migrate", "here", address, "--job", job, *store)
        assert up.returncode == 0, up.stderr
        words = ("--state", address, "--job", job, "-q")
        done = run_sumi("run", "--config", configured(tmp_path, "there", web), *words)
        assert done.returncode == 0, done.stderr
        assert set(web.pages_asked().values()) == {1}
        assert len(web.pages_asked()) == 4 * 6
        wanted = rows(tmp_path / "there")
        down = run_sumi("state", "migrate", address, "back", "--job", job, "--to", backend)
        assert down.returncode == 0, down.stderr
        checked = run_sumi("state", "check", "back", "--deep")
        assert checked.returncode == 0, checked.stdout + checked.stderr
        asked = len(web.log)
        back = Path(file).read_text().replace("workspace: here", "workspace: back")
        (tmp_path / "back.yaml").write_text(f"{back}frontier:\n  backend: {backend}\n")
        (tmp_path / "back" / "seeds.txt").write_text(f"{web.start}\n")
        assert run_sumi("run", "--config", "back.yaml", "-q").returncode == 0
        assert len(web.log) == asked
    assert rows(tmp_path / "back") == wanted
    assert len(wanted) == 4 * 6


def test_a_scraper_says_why_it_stays_on_one_machine(run_sumi: RunSumi) -> None:
    refused = run_sumi("scrape", "run", "--config", "x.yaml", "--state", "postgresql://127.0.0.1:1/none")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "no option --state" in refused.stderr
    assert "machine" in refused.stderr


def rows(workspace: Path) -> set[tuple[str, str]]:
    """URL and content hash of every page, each once."""
    text = (workspace / "metadata/crawl_metadata.jsonl").read_text()
    found = [msgspec.json.decode(line) for line in text.splitlines()]
    assert len({row["url"] for row in found}) == len(found)
    return {(row["url"], row["content_sha256"]) for row in found}


def texts(file: Path) -> dict[str, str]:
    found = map(msgspec.json.decode, file.read_text().splitlines())
    return {page["url"]: page["text"] for page in found}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "--unified", "--store", "s3://pages"), "--state"),
        (("run", "--no-unified", "--state", "postgresql://x/y", "--store", "s3://pages"), "--unified"),
        (("crawl", "run", "--state", "postgresql://x/y", "--store", "s3://pages"), "--unified"),
        (("run", "--unified", "--state", "postgresql://x/y", "--store", "pages"), "s3://BUCKET"),
    ],
)
def test_a_store_that_cannot_be_used_is_refused_in_a_sentence(
    run_sumi: RunSumi, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    with many_hosts(hosts=1, pages=1) as web:
        refused = run_sumi(*words, "--config", configured(tmp_path, "one", web))
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert said in refused.stderr


def test_a_state_that_is_no_database_is_refused(run_sumi: RunSumi) -> None:
    refused = run_sumi("crawl", "run", "--config", "none.yaml", "--state", "sqlite")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "postgresql://" in refused.stderr


def test_a_scraper_beside_the_crawler_of_each_machine_archives_every_page_once(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str
) -> None:
    address = postgres.address()
    with many_hosts(hosts=4, pages=60) as web:
        files = [configured(tmp_path, name, web) for name in ("one", "two")]
        crawl = ("crawl", "run", "--state", address, "--job", job, "-q", "--config")
        first = spawn_sumi(*crawl, files[0])
        wait_until(first, lambda: bool(web.log))
        postgres.sql(f"UPDATE sumi.job SET wish = 'pause' WHERE name = '{job}'")
        second = spawn_sumi(*crawl, files[1])
        wait_until(second, lambda: postgres.sql(SHARING.format(job=job)).strip() == "2")
        assert run_sumi("resume", address, "--job", job).returncode == 0
        assert [each.process.wait(timeout=60) for each in (first, second)] == [0, 0]
        assert set(web.pages_asked().values()) == {1}
    for file in files:
        scraped = run_sumi("scrape", "run", "--config", file, "-q")
        assert scraped.returncode == 0, scraped.stderr
    one, two = archived(tmp_path / "one"), archived(tmp_path / "two")
    assert one
    assert two
    assert not one & two
    assert len(one | two) == 4 * 60


def archived(workspace: Path) -> set[str]:
    (pages,) = workspace.glob("logs/pages-*.csv")
    with pages.open(newline="") as file:
        return {row["url"] for row in csv.DictReader(file)}
