"""Workers are killed, stopped and cut off, and the server is restarted at once: no page is lost, none ends
twice in the ledger, and the site never sees two requests at once or a pause cut short."""

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.between import between
from tests.cluster.many_hosts import ManyHosts, many_hosts
from tests.cluster.planted import SHORT, Ledger, ledger_of, own_server, plant
from tests.commands import SpawnedSumi, SpawnSumi, wait_until
from tests.postgres import Postgres

PAUSE = 0.05


@pytest.fixture
def job(tmp_path: Path) -> str:
    return re.sub(r"\W", "-", tmp_path.name)


class Crew:
    """Workers of one job; one that was killed is replaced by a new one in the same folder."""

    def __init__(self, spawn: SpawnSumi, address: str, job: str) -> None:
        self._spawn = spawn
        self._address = address
        self._job = job
        self.workers: list[SpawnedSumi] = []

    def start(self, number: int, address: str = "") -> SpawnedSumi:
        # As on machines of their own: a shared pace would hide that two ask one host.
        words = ("worker", address or self._address, "--job", self._job, "-q", "--no-shared-pace")
        worker = self._spawn(*words, "-o", f"w{number}")
        self.workers.append(worker)
        return worker

    def kill(self, number: int) -> None:
        self.workers[number].process.kill()
        self.workers[number].process.wait()
        self.workers[number] = self.start(number)
        self.workers.pop()

    def end(self) -> None:
        for worker in self.workers:
            assert worker.process.wait(timeout=90) == 0, worker.stderr.read_text()


def each_page_once(web: ManyHosts, ledger: Ledger) -> None:
    pages = len(web.names) * web.pages
    assert ledger == (pages, pages, 0)
    assert len(web.pages_asked()) == pages


def test_workers_are_killed_and_the_server_is_restarted(
    postgres: Postgres, spawn_sumi: SpawnSumi, job: str
) -> None:
    with own_server() as own_postgres, many_hosts(hosts=16, pages=30) as web:
        plant(own_postgres, web, job, SHORT, PAUSE)
        crew = Crew(spawn_sumi, own_postgres.address(), job)
        for number in range(3):
            crew.start(number)
        for asked, number in ((60, 0), (180, 1)):
            wait_until(crew.workers[2], _more_than(web, asked))
            crew.kill(number)
        wait_until(crew.workers[2], lambda: len(web.log) > 250)
        own_postgres.stop("immediate")
        own_postgres.start()
        crew.end()
        each_page_once(web, ledger_of(own_postgres, job))
        web.require_polite(PAUSE)


@pytest.mark.parametrize("step", ["hold before", "hold half", "pass on"])
def test_a_worker_that_stands_still_while_it_settles_writes_nothing_afterwards(
    postgres: Postgres, spawn_sumi: SpawnSumi, job: str, step: str
) -> None:
    stopped = threading.Event()
    with many_hosts(hosts=6, pages=8) as web, between(postgres.port) as line:
        plant(postgres, web, job, SHORT, PAUSE)
        crew = Crew(spawn_sumi, postgres.address(), job)
        still = crew.start(0, postgres.address(port=line.port))

        def stand_still(message: bytes) -> str | None:
            if b"COMMIT" not in message or stopped.is_set():
                return None
            os.kill(still.process.pid, signal.SIGSTOP)
            stopped.set()
            return step

        wait_until(still, lambda: len(web.log) > 5)
        line.heard = stand_still
        wait_until(still, stopped.is_set)
        heir = crew.start(1)
        wait_until(heir, lambda: len(web.pages_asked()) == 6 * 8)
        line.released.set()
        os.kill(still.process.pid, signal.SIGCONT)
        crew.end()
        each_page_once(web, ledger_of(postgres, job))
        web.require_polite(PAUSE)


def test_a_commit_whose_answer_is_lost_counts_once(
    postgres: Postgres, spawn_sumi: SpawnSumi, job: str
) -> None:
    cuts: list[float] = []

    def lose_the_answer(message: bytes) -> str | None:
        if b"COMMIT" in message and len(cuts) < 3:
            cuts.append(time.monotonic())
            return "cut after"
        return None

    with many_hosts(hosts=6, pages=8) as web, between(postgres.port) as line:
        plant(postgres, web, job, SHORT, PAUSE)
        crew = Crew(spawn_sumi, postgres.address(port=line.port), job)
        crew.start(0)
        wait_until(crew.workers[0], lambda: len(web.log) > 5)
        line.heard = lose_the_answer
        crew.end()
        assert len(cuts) == 3
        each_page_once(web, ledger_of(postgres, job))
        # What was in flight beside it, at most one page of each host, is fetched again.
        assert sum(web.pages_asked().values()) - 6 * 8 <= len(cuts) * 6
        web.require_polite(PAUSE)


@pytest.mark.parametrize("share", [0.67, 1.17, 2.0])
def test_a_worker_that_is_cut_off_keeps_its_hosts_only_for_a_while(
    postgres: Postgres, spawn_sumi: SpawnSumi, job: str, share: float
) -> None:
    """For 20, 35 and 60 s, in a fifteenth of the real times."""
    with many_hosts(hosts=6, pages=40) as web, between(postgres.port) as line:
        plant(postgres, web, job, SHORT, PAUSE)
        crew = Crew(spawn_sumi, postgres.address(), job)
        cut_off = crew.start(0, postgres.address(port=line.port))
        wait_until(cut_off, lambda: len(web.log) > 20)
        crew.start(1)
        wait_until(cut_off, lambda: len(web.log) > 60)
        sessions = _owners(postgres, job)
        line.drop()
        time.sleep(share * SHORT.session)  # how long the line is dead is what is tried
        line.restore()
        if share < 1:
            assert sessions <= _owners(postgres, job)
        crew.end()
        each_page_once(web, ledger_of(postgres, job))
        web.require_polite(PAUSE)


def _owners(postgres: Postgres, job: str) -> set[str]:
    """Of the sessions that hold buckets."""
    text = f"""SELECT DISTINCT l.pid FROM pg_locks l, sumi.job j WHERE l.locktype = 'advisory'
        AND j.name = '{job}' AND l.classid::bigint = {0x5355_0000} + j.id"""
    return set(postgres.sql(text).split())


def test_a_limit_is_exact_whoever_dies(postgres: Postgres, spawn_sumi: SpawnSumi, job: str) -> None:
    with many_hosts(hosts=16, pages=30) as web:
        plant(postgres, web, job, SHORT, PAUSE, max_pages=100)
        crew = Crew(spawn_sumi, postgres.address(), job)
        for number in range(3):
            crew.start(number)
        for asked, number in ((15, 0), (30, 1)):
            wait_until(crew.workers[2], _more_than(web, asked))
            crew.kill(number)
        crew.end()
        assert ledger_of(postgres, job).settled == 100
        web.require_polite(PAUSE)


def _more_than(web: ManyHosts, number: int) -> Callable[[], bool]:
    return lambda: len(web.log) > number


def test_a_worker_that_is_started_while_the_server_restarts_waits_for_it(
    postgres: Postgres, spawn_sumi: SpawnSumi, job: str
) -> None:
    with own_server() as own_postgres, many_hosts(hosts=2, pages=3) as web:
        plant(own_postgres, web, job, SHORT, 0.0)
        own_postgres.stop("immediate")
        with between(own_postgres.port) as line:
            worker = spawn_sumi("worker", own_postgres.address(port=line.port), "--job", job, "-o", "w")
            wait_until(worker, lambda: "trying again" in worker.stderr.read_text())
            own_postgres.start()
            assert worker.process.wait(timeout=90) == 0, worker.stderr.read_text()
        each_page_once(web, ledger_of(own_postgres, job))
