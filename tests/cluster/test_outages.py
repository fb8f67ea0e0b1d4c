"""A database that is away for longer than a session lasts, that crashes with commits it has not kept, or
that fails over to a replica which lags; and workers whose clocks are days apart."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.between import between
from tests.cluster.many_hosts import many_hosts
from tests.cluster.planted import SHORT, ledger_of, own_server, plant
from tests.commands import ROOT, RunSumi, SpawnSumi, wait_until
from tests.postgres import Postgres

PAUSE = 0.05
HOSTS, PAGES = 6, 12
DAYS = 86_400.0
# Python reads it when it starts: a machine whose clock is wrong.
_WRONG_CLOCK = """import os, time
_wall, _ahead = time.time, float(os.environ["CLOCK_AHEAD"])
time.time = lambda: _wall() + _ahead
"""


@pytest.fixture
def job(tmp_path: Path) -> str:
    return re.sub(r"\W", "-", tmp_path.name)


@pytest.fixture
def own(postgres: Postgres) -> Iterator[Postgres]:
    with own_server() as server:
        yield server


def test_workers_wait_for_a_database_that_is_away_for_longer_than_their_sessions(
    own: Postgres, spawn_sumi: SpawnSumi, job: str
) -> None:
    with many_hosts(HOSTS, PAGES) as web:
        plant(own, web, job, SHORT, PAUSE)
        worker = ("worker", own.address(), "--job", job, "--no-shared-pace")
        crew = [spawn_sumi(*worker, "-o", f"w{number}") for number in range(2)]
        wait_until(crew[0], lambda: len(web.log) > 15)
        own.stop("immediate")
        time.sleep(2 * SHORT.session)  # how long it is away is what is tried
        asked = len(web.log)
        assert all(one.process.poll() is None for one in crew)
        time.sleep(SHORT.word)
        assert len(web.log) == asked  # nobody asks hosts that may have another owner
        own.start()
        for one in crew:
            assert one.process.wait(timeout=90) == 0, one.stderr.read_text()
            assert "joining again" in one.stderr.read_text()
        assert ledger_of(own, job) == (HOSTS * PAGES, HOSTS * PAGES, 0)
        web.require_polite(PAUSE)


def test_a_crash_of_a_server_that_does_not_wait_for_its_disk_repeats_pages_and_loses_none(
    own: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str
) -> None:
    own.sql("ALTER SYSTEM SET synchronous_commit = off")
    own.sql("ALTER SYSTEM SET wal_writer_delay = '10s'")
    own.sql("SELECT pg_reload_conf()")
    with many_hosts(HOSTS, PAGES) as web:
        plant(own, web, job, SHORT, PAUSE, store=f"file://{tmp_path}/store")
        worker = spawn_sumi("worker", own.address(), "--job", job, "-o", "w")
        for asked in (15, 40):
            wait_until(worker, lambda asked=asked: len(web.log) > asked)  # type: ignore[misc]
            own.stop("immediate")
            own.start()
        assert worker.process.wait(timeout=90) == 0, worker.stderr.read_text()
        assert ledger_of(own, job) == (HOSTS * PAGES, HOSTS * PAGES, 0)
        web.require_polite(PAUSE)
    checked = run_sumi("state", "check", own.address(), "--job", job, "--deep")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_after_a_failover_to_a_replica_that_lags_its_pages_are_fetched_again(
    own: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str
) -> None:
    with many_hosts(HOSTS, PAGES) as web, own.replica() as replica, between(own.port) as line:
        plant(own, web, job, SHORT, PAUSE, store=f"file://{tmp_path}/store")
        address = own.address(port=line.port)
        worker = spawn_sumi("worker", address, "--job", job, "-o", "w")
        wait_until(worker, lambda: ledger_of(replica, job).settled > 0)
        replica.sql("ALTER SYSTEM SET primary_conninfo = ''")  # from now on it lags
        replica.sql("SELECT pg_reload_conf()")
        settled = ledger_of(own, job).settled
        wait_until(worker, lambda: ledger_of(own, job).settled > settled + 10)
        ahead = ledger_of(own, job).settled
        own.stop("immediate")
        replica.sql("SELECT pg_promote()")
        line.lead_to(replica.port)
        assert ledger_of(replica, job).settled < ahead
        assert worker.process.wait(timeout=90) == 0, worker.stderr.read_text()
        assert ledger_of(replica, job) == (HOSTS * PAGES, HOSTS * PAGES, 0)
        web.require_polite(PAUSE)
        checked = run_sumi("state", "check", replica.address(), "--job", job, "--deep")
        assert checked.returncode == 0, checked.stdout + checked.stderr


END_SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sumi worker'"


def test_a_worker_ends_when_the_tables_are_of_another_version(
    own: Postgres, spawn_sumi: SpawnSumi, job: str
) -> None:
    with many_hosts(HOSTS, 60) as web:
        plant(own, web, job, SHORT, PAUSE)
        worker = spawn_sumi("worker", own.address(), "--job", job, "-o", "w")
        wait_until(worker, lambda: len(web.log) > 15)
        own.sql("UPDATE sumi.version SET number = 99")
        own.sql(END_SESSIONS)
        assert worker.process.wait(timeout=60) == 2
        said = worker.stderr.read_text()
    assert said.count("tables of format 99") == 1
    assert said.splitlines()[-1].startswith("sumi: error: this database has tables of format 99")


def test_why_a_database_does_not_let_a_worker_in_is_told_once_while_it_waits(
    own: Postgres, spawn_sumi: SpawnSumi, job: str
) -> None:
    own.sql("CREATE ROLE crawl LOGIN IN ROLE sumi_worker")
    with many_hosts(HOSTS, PAGES) as web:
        plant(own, web, job, SHORT, PAUSE)
        address = own.address().replace("sumi@", "crawl@")
        worker = spawn_sumi("worker", address, "--job", job, "-o", "w")
        wait_until(worker, lambda: len(web.log) > 15)
        own.sql("ALTER ROLE crawl NOLOGIN")
        own.sql(END_SESSIONS)
        log = own.folder / "log"
        wait_until(worker, lambda: log.read_text(errors="replace").count("not permitted to log in") > 4)
        own.sql("ALTER ROLE crawl LOGIN")
        assert worker.process.wait(timeout=90) == 0, worker.stderr.read_text()
        assert ledger_of(own, job) == (HOSTS * PAGES, HOSTS * PAGES, 0)
        web.require_polite(PAUSE)
    assert worker.stderr.read_text().count("not permitted to log in") == 1


def test_machines_whose_clocks_are_days_apart_share_a_job(
    postgres: Postgres, spawn_installed_sumi: SpawnSumi, tmp_path: Path, job: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(_WRONG_CLOCK)
    path = f"{tmp_path}:{ROOT / 'src'}"
    began = time.time()
    with many_hosts(HOSTS, PAGES) as web:
        plant(postgres, web, job, SHORT, PAUSE)
        crew = [
            spawn_installed_sumi(
                *("worker", postgres.address(), "--job", job, "--no-shared-pace", "-o", f"w{number}"),
                env={"PYTHONPATH": path, "CLOCK_AHEAD": str(ahead)},
            )
            for number, ahead in enumerate((2 * DAYS, -2 * DAYS, 0.0))
        ]
        wait_until(crew[0], lambda: len(web.log) > 20)
        crew[2].process.kill()  # an heir's wait is counted by whatever clock it has
        for one in crew[:2]:
            assert one.process.wait(timeout=90) == 0, one.stderr.read_text()
        assert ledger_of(postgres, job) == (HOSTS * PAGES, HOSTS * PAGES, 0)
        web.require_polite(PAUSE)
    # One time for all, by the server's clock: which pages are older than others does not depend on machines.
    written = (
        f"SELECT min(e.at), max(e.at) FROM sumi.ending e JOIN sumi.job j ON j.id = e.job WHERE name = '{job}'"
    )
    first, last = map(float, postgres.sql(written).strip().split("|"))
    assert began - 60 <= first <= last <= time.time() + 60
