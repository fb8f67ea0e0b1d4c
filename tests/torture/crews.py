"""Workers of a job in a database, in what is too long for the usual tests: killed all the time, under a limit
on pages, and in crawls whose ends are hard to find."""

import asyncio
import random
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

from sumi.model import Candidate, Hop
from sumi.state.cluster.jobs import JobRow, make_job
from sumi.state.cluster.keys import bucket_of
from sumi.state.cluster.session import connect
from sumi.urls import host_key
from tests.cluster.killed_copies import KilledCopies
from tests.cluster.many_hosts import ManyHosts, many_hosts
from tests.cluster.planted import SHORT, ledger_of, own_server, plant, prepare
from tests.cluster.same_outcomes import differences
from tests.cluster.test_store import CALM, HOSTS, UNPACED, Team, page
from tests.commands import sumi_command, sumi_environment
from tests.folder_site import folder_site
from tests.postgres import Postgres, the_server

WORKERS = 8
KILL_EVERY, RESTART_EVERY, MOST_KILLS = 2.0, 20.0, 200
PATIENCE = 30.0
LIMIT, KILLS_BELOW_LIMIT = 100, 50
LONGEST = 1800.0
RINGS, ROUNDS, LATEST_END = 20, 24, 10.0
LETTERS = 10_000  # batches
COPIED_PAGES, MOST_MESSAGES = 60, 40


def killed(folder: Path, seed: int) -> list[str]:
    """5,000 pages; a worker is killed every 2 s, and the server is stopped at once every 20 s."""
    return _Killing(folder, seed).attempt()


def killed_below_a_limit(folder: Path, seed: int) -> list[str]:
    """100 of 480 pages are wanted, and workers are killed as fast as they come."""
    return _Killing(folder, seed, limit=LIMIT).attempt()


class _Killing:
    def __init__(self, folder: Path, seed: int, limit: int = 0) -> None:
        folder.mkdir(parents=True)
        self._folder, self._chance, self._limit = folder, random.Random(seed), limit
        self._hosts, self._pages = (16, 30) if limit else (50, 100)
        self._pause = 2.0 if limit else 0.05
        self._workers: list[subprocess.Popen[bytes]] = []

    def attempt(self) -> list[str]:
        with ExitStack() as stack:
            server = stack.enter_context(own_server())
            web = stack.enter_context(many_hosts(self._hosts, self._pages))
            plant(server, web, "trial", SHORT, self._pause, max_pages=self._limit)
            stack.callback(self._end_all)
            self._workers = [self._started(server, number) for number in range(WORKERS)]
            self._trouble(server, web)
            return self._await_end() + self._violations(server, web)

    def _started(self, server: Postgres, number: int) -> "subprocess.Popen[bytes]":
        words = ("worker", server.address(), "--job", "trial", "-q", "--no-shared-pace")
        folder = ("-o", str(self._folder / f"w{number}"))
        with open(self._folder / f"{number}.log", "ab") as log:
            return subprocess.Popen(
                sumi_command((*words, *folder)), env=sumi_environment(None), stdout=log, stderr=log
            )

    def _trouble(self, server: Postgres, web: ManyHosts) -> None:
        """Until the job is over, or for as many kills as there are. On a busy machine not before there is
        something to interrupt."""
        restart_at = time.monotonic() + RESTART_EVERY
        for _ in range(KILLS_BELOW_LIMIT if self._limit else MOST_KILLS):
            time.sleep(KILL_EVERY / 4 if self._limit else KILL_EVERY)
            if any(worker.poll() is not None for worker in self._workers):
                return
            asked, patience = len(web.log), time.monotonic() + PATIENCE
            while len(web.log) == asked and time.monotonic() < patience:
                time.sleep(0.05)
            number = self._chance.randrange(WORKERS)
            self._workers[number].kill()
            self._workers[number].wait()
            if not self._limit and time.monotonic() > restart_at:
                restart_at += RESTART_EVERY
                server.stop("immediate")
                server.start()
            self._workers[number] = self._started(server, number)

    def _await_end(self) -> list[str]:
        until = time.monotonic() + LONGEST
        found: list[str] = []
        for number, worker in enumerate(self._workers):
            try:
                code = worker.wait(timeout=max(1.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                return [*found, f"worker {number} did not end within {LONGEST:.0f} s"]
            if code:
                found.append(f"worker {number} ended with {code}; see {self._folder / f'{number}.log'}")
        return found

    def _end_all(self) -> None:
        for worker in self._workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()

    def _violations(self, server: Postgres, web: ManyHosts) -> list[str]:
        found: list[str] = []
        ledger = ledger_of(server, "trial")
        pages = self._limit or self._hosts * self._pages
        if (ledger.settled, ledger.twice) != (pages, 0) or (not self._limit and ledger.urls != pages):
            found.append(f"{pages} pages, but {ledger}")
        try:
            web.require_polite(self._pause)
        except AssertionError as error:
            found.append(str(error))
        return found


def _made(name: str, *seeds: str) -> tuple[Postgres, JobRow]:
    async def make() -> JobRow:
        connection = await connect(server.address(), CALM)
        try:
            found = [Candidate(url, Hop.SEED) for url in seeds]
            return await make_job(connection, name, "mirror", "{}", "", found, 0)
        finally:
            await connection.close()

    server = the_server()
    prepare(server)
    return server, asyncio.run(make())


def rings(folder: Path, seed: int) -> list[str]:
    """One page at a time is open, always on a host of somebody else: the end is found soon, never early."""
    return [wrong for number in range(RINGS) for wrong in _ring(f"{folder.name}-ring-{seed}-{number}", seed)]


def _ring(name: str, seed: int) -> list[str]:
    chance = random.Random(f"{seed} {name}")
    way = [chance.choice(HOSTS) for _ in range(ROUNDS)]
    server, job = _made(name, page(way[0], 0))
    asked_at = [0.0]

    def links(url: str) -> list[str]:
        asked_at.append(time.monotonic())
        number = int(url.rpartition("/")[2]) + 1
        return [page(way[number], number)] if number < ROUNDS else []

    async def scenario() -> int:
        team = Team(server, job, UNPACED, CALM)
        workers = [await team.join() for _ in range(3)]
        async with asyncio.timeout(300):
            await asyncio.gather(*(team.crawl(worker, links) for worker in workers))
        await team.leave()
        return sum(team.asked.values())

    asked = asyncio.run(scenario())
    late = time.monotonic() - max(asked_at)
    wrong = [] if asked == ROUNDS else [f"{name}: ended after {asked} of {ROUNDS} pages"]
    return wrong if late < LATEST_END else [*wrong, f"{name}: the end was found after {late:.1f} s"]


def letters(folder: Path, seed: int) -> list[str]:
    """Two workers settle pages that link to hosts of each other, in 10,000 batches: none waits for another
    that waits for it, which would cost a session."""
    rounds = LETTERS // len(HOSTS)
    server, job = _made(f"{folder.name}-letters-{seed}", *(page(host, 0) for host in HOSTS))

    def links(url: str) -> list[str]:
        host, number = host_key(url), int(url.rpartition("/")[2]) + 1
        others = [each for each in HOSTS if bucket_of(each) != bucket_of(host)]
        return [page(other, number) for other in reversed(others)] if number < rounds else []

    async def scenario() -> list[str]:
        team = Team(server, job, UNPACED, CALM)
        workers = [await team.join() for _ in range(2)]
        sessions = [worker.session for worker in workers]
        async with asyncio.timeout(LONGEST):
            await asyncio.gather(*(team.crawl(worker, links) for worker in workers))
        kept = sessions == [worker.session for worker in workers]
        await team.leave()
        wrong = [] if kept else ["a session was lost"]
        asked = set(team.asked.values()), len(team.asked)
        return wrong if asked == ({1}, rounds * len(HOSTS)) else [*wrong, f"asked {asked}"]

    return asyncio.run(scenario())


def outcomes(folder: Path, seed: int) -> list[str]:
    """Three workers, between whom hosts go to and fro, beside the executable specification."""
    prepare(the_server())
    return differences(the_server(), f"{folder.name}-outcomes-{seed}", seed)


def copies(folder: Path, seed: int) -> list[str]:
    """A mirror is copied into a database and back, by processes that are killed on the way."""
    folder.mkdir(parents=True)
    prepare(the_server())
    with folder_site(folder / "site") as site:
        names = [f"p{each}.html" for each in range(COPIED_PAGES)]
        site.write("index.html", "".join(f'<a href="{name}">{name}</a>' for name in [*names, "gone.html"]))
        for each, name in enumerate(names):
            site.write(name, f"<p>Number {each} has {'much ' * (each + 5)}to say.</p>")
        message = random.Random(seed).randrange(1, MOST_MESSAGES)
        return KilledCopies(the_server(), site, folder, f"copies-{seed}").attempt(message)
