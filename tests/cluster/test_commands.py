"""A job in a database, from the command line: several processes share it, politely, and it is seen and
steered from outside."""

import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from sumi.state.cluster.timing import Timing
from tests.cluster.many_hosts import ManyHosts, many_hosts
from tests.cluster.planted import plant
from tests.commands import RunSumi, SpawnedSumi, SpawnSumi, wait_until
from tests.postgres import Postgres

PAUSE = 0.05


def mirror_of(web: ManyHosts, address: str, job: str, *more: str) -> tuple[str, ...]:
    options = ("--rate-limit", str(1 / PAUSE), "--state", address, "--job", job, "-q", *web.options())
    return ("mirror", web.start, *options, *more)


@pytest.fixture
def job(tmp_path: Path) -> str:
    return re.sub(r"\W", "-", tmp_path.name)


def finished(run: SpawnedSumi) -> int:
    return run.process.wait(timeout=60)


def markdown_in(*folders: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for folder in folders
        for path in folder.rglob("*.md")
        if not path.name.startswith("_")
    }


def test_three_workers_fetch_every_page_once_and_keep_the_pauses(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str
) -> None:
    address = postgres.address()
    with many_hosts(hosts=12, pages=8) as web:
        plant(postgres, web, job, Timing(), PAUSE)
        assert run_sumi("pause", address, "--job", job).returncode == 0
        worker = ("worker", address, "--job", job, "-q", "--no-shared-pace")  # as on machines of their own
        first = spawn_sumi(*worker, "-o", "one")
        second = spawn_sumi(*worker, "-o", "more", "--processes", "2")
        wait_until(second, lambda: postgres.sql(SHARING.format(job=job)).strip() == "3")
        assert run_sumi("resume", address, "--job", job).returncode == 0
        assert [finished(first), finished(second)] == [0, 0]
        assert set(web.pages_asked().values()) == {1}
        assert len(web.pages_asked()) == 12 * 8
        web.require_polite(PAUSE)
    folders = tmp_path / "one", tmp_path / "more/worker-1", tmp_path / "more/worker-2"
    assert len(markdown_in(*folders)) == 12 * 8
    assert all(markdown_in(folder) for folder in folders)  # each had a part in it
    shown = run_sumi("status", address, "--job", job)
    assert "complete" in shown.stdout
    assert re.search(r"captured +96\b", shown.stdout)
    explained = run_sumi("explain", f"http://h3.web.test:{web.port}/5", "--in", address, "--job", job)
    assert explained.returncode == 0
    assert "captured" in explained.stdout


# Sessions that own about a third of the job's 1,024 buckets; a lock's first number is the job's.
SHARING = """SELECT count(*) FROM (SELECT l.pid FROM pg_locks l JOIN sumi.job j
ON l.classid::bigint = x'53550000'::bigint + j.id WHERE l.locktype = 'advisory' AND j.name = '{job}'
GROUP BY l.pid HAVING count(*) > 200) sharing"""
_WORKERS = "SELECT count(*) FROM sumi.worker w JOIN sumi.job j ON j.id = w.job WHERE j.name = '{job}'"


def test_a_wish_reaches_all_workers_and_a_stopped_job_goes_on(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, job: str
) -> None:
    address = postgres.address()
    with many_hosts(hosts=3, pages=30) as web:
        running = spawn_sumi(*mirror_of(web, address, job, "--json"))
        wait_until(running, lambda: len(web.log) > 10)
        assert run_sumi("pause", address, "--job", job).returncode == 0
        wait_until(running, lambda: _said(running, "paused"))
        assert "paused" in run_sumi("status", address, "--job", job).stdout
        assert run_sumi("resume", address, "--job", job).returncode == 0
        wait_until(running, lambda: _said(running, "running"))
        assert run_sumi("stop", address, "--job", job).returncode == 0
        assert finished(running) == 3
        asked = len(web.log)
        refused = run_sumi("worker", address, "--job", job)
        assert (refused.returncode, len(web.log)) == (2, asked)
        assert "sumi resume" in refused.stderr
        assert run_sumi("resume", address, "--job", job).returncode == 0
        assert run_sumi("worker", address, "--job", job, "-q", "-o", "rest").returncode == 0
        assert set(web.pages_asked().values()) == {1}
        assert len(web.pages_asked()) == 3 * 30


def _said(running: SpawnedSumi, state: str) -> bool:
    return any(event.get("state") == state for event in running.events)


def test_ctrl_c_ends_one_worker_and_the_others_take_over_its_hosts(
    postgres: Postgres, spawn_sumi: SpawnSumi, job: str
) -> None:
    address = postgres.address()
    with many_hosts(hosts=8, pages=12) as web:
        leaving = spawn_sumi(*mirror_of(web, address, job, "-o", "one"))
        wait_until(leaving, lambda: bool(web.log))
        staying = spawn_sumi("worker", address, "--job", job, "-q", "-o", "two")
        wait_until(leaving, lambda: len(web.log) > 30)
        leaving.process.send_signal(signal.SIGINT)
        assert finished(leaving) == 3
        assert finished(staying) == 0
        assert set(web.pages_asked().values()) == {1}
        assert len(web.pages_asked()) == 8 * 12
        web.require_polite(PAUSE)


Refusal = tuple[Callable[[str], tuple[str, ...]], str]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (lambda address: ("worker", address, "--job", "nowhere"), "there is no job nowhere"),
        (lambda _: ("worker", "output"), "is not the address of a database"),
        (lambda _: ("worker", "postgresql://127.0.0.1:1/none"), "cannot be reached"),
        (
            lambda _: ("mirror", "http://x.test/", "--state", "postgresql://me:hush@127.0.0.1:1/none"),
            "must not hold a password",
        ),
        (lambda _: ("worker", "postgresql://me:hush@127.0.0.1:1/none"), "holds a password"),
        (lambda _: ("status", "postgresql://127.0.0.1:1/x?password=hush"), "holds a password"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence_that_holds_no_password(
    postgres: Postgres, run_sumi: RunSumi, words: Callable[[str], tuple[str, ...]], said: str
) -> None:
    refused = run_sumi(*words(postgres.address()))
    assert refused.returncode == 2
    assert said in refused.stderr
    *before, last = refused.stderr.splitlines()
    assert last.startswith("sumi: error: ")
    assert all(line.endswith("; trying again") for line in before)
    assert len(before) <= 1
    assert "hush" not in refused.stderr + refused.stdout
    assert "Traceback" not in refused.stderr


def test_a_database_without_tables_says_what_to_do_and_setup_makes_them(
    postgres: Postgres, run_sumi: RunSumi
) -> None:
    postgres.create("empty")
    address = postgres.address("empty")
    assert "sumi state setup" in run_sumi("status", address).stderr
    assert run_sumi("state", "setup", address).returncode == 0
    again = run_sumi("state", "setup", address)
    assert "the tables are there" in again.stdout
    assert run_sumi("status", address).returncode == 0


def test_secrets_are_not_stored_and_a_worker_needs_its_own(
    postgres: Postgres, run_sumi: RunSumi, job: str
) -> None:
    address = postgres.address()
    with many_hosts(hosts=1, pages=2) as web:
        environment = {"SUMI_AUTH": "me:hush-hush"}
        assert run_sumi(*mirror_of(web, address, job), env=environment).returncode == 0
        stored = postgres.sql("SELECT j::text FROM sumi.job j UNION ALL SELECT n::text FROM sumi.note n")
        assert job in stored
        assert "hush" not in stored
        refused = run_sumi("worker", address, "--job", job)
        assert refused.returncode == 2
        assert "SUMI_AUTH" in refused.stderr
        assert run_sumi("worker", address, "--job", job, "-q", env=environment).returncode == 0


def test_a_job_of_another_version_is_refused(postgres: Postgres, run_sumi: RunSumi, job: str) -> None:
    address = postgres.address()
    with many_hosts(hosts=1, pages=1) as web:
        assert run_sumi(*mirror_of(web, address, job)).returncode == 0
    postgres.sql(
        f"UPDATE sumi.job SET recipe = jsonb_set(recipe::jsonb, '{{format}}', '7')::text WHERE name = '{job}'"
    )
    refused = run_sumi("worker", address, "--job", job)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "use the same version of sumi on every machine" in refused.stderr
