"""Workers of a job in a database, in trouble at moments of chance, by the real times: killed, stopped, cut
off for as long as a minute, their server restarted at once. A try takes some minutes."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from sumi.state.cluster.timing import Timing
from tests.cluster.between import Between, between
from tests.cluster.many_hosts import ManyHosts, many_hosts
from tests.cluster.planted import ledger_of, own_server, plant
from tests.commands import sumi_command, sumi_environment
from tests.postgres import Postgres, why_no_server

PAUSE = 0.2
HOSTS, PAGES, WORKERS, TROUBLES = 40, 60, 4, 5
STILL = (20.0, 35.0, 60.0)  # seconds
LONGEST = 1800.0


def why_not() -> str:
    return why_no_server()


def attempt(folder: Path, seed: int) -> list[str]:
    folder.mkdir(parents=True)
    chance = random.Random(seed)
    with ExitStack() as stack:
        server = stack.enter_context(own_server())
        web = stack.enter_context(many_hosts(hosts=HOSTS, pages=PAGES, seconds=0.02))
        lines = [stack.enter_context(between(server.port)) for _ in range(WORKERS)]
        plant(server, web, "trial", Timing(), PAUSE)
        crew = _Crew(server, lines, folder)
        stack.callback(crew.kill_all)
        for _ in range(TROUBLES):
            time.sleep(chance.uniform(1, 10))
            chance.choice(crew.troubles)(chance)
        violations = crew.await_end()
        return violations + _violations(server, web)


class _Crew:
    def __init__(self, server: Postgres, lines: list[Between], folder: Path) -> None:
        self._server, self._lines, self._folder = server, lines, folder
        self._workers = [self._started(number) for number in range(WORKERS)]
        self.troubles: list[Callable[[random.Random], None]] = [
            self._kill,
            self._stand_still,
            self._cut_off,
            self._restart,
            self._away,
        ]

    def _started(self, number: int) -> subprocess.Popen[bytes]:
        address = self._server.address(port=self._lines[number].port)
        words = ("worker", address, "--job", "trial", "-q", "-o", str(self._folder / f"w{number}"))
        with open(self._folder / f"{number}.log", "ab") as log:
            return subprocess.Popen(sumi_command(words), env=sumi_environment(None), stdout=log, stderr=log)

    def _kill(self, chance: random.Random) -> None:
        number = chance.randrange(WORKERS)
        self._workers[number].kill()
        self._workers[number].wait()
        self._workers[number] = self._started(number)

    def _stand_still(self, chance: random.Random) -> None:
        """In the middle of a settlement."""
        number = chance.randrange(WORKERS)
        line, pid = self._lines[number], self._workers[number].pid
        is_stopped: list[bool] = []
        step = chance.choice(["hold before", "hold half", "pass on"])

        def stop(message: bytes) -> str | None:
            if b"COMMIT" not in message or is_stopped:
                return None
            is_stopped.append(True)
            os.kill(pid, signal.SIGSTOP)
            return step

        line.released.clear()
        line.heard = stop
        time.sleep(chance.choice(STILL))
        line.heard = lambda _message: None
        line.released.set()
        if self._workers[number].poll() is None:
            os.kill(pid, signal.SIGCONT)

    def _cut_off(self, chance: random.Random) -> None:
        line = chance.choice(self._lines)
        line.drop()
        time.sleep(chance.choice(STILL))
        line.restore()

    def _restart(self, _chance: random.Random) -> None:
        self._server.stop("immediate")
        self._server.start()

    def _away(self, chance: random.Random) -> None:
        self._server.stop("immediate")
        time.sleep(chance.choice(STILL))
        self._server.start()

    def await_end(self) -> list[str]:
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

    def kill_all(self) -> None:
        for worker in self._workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()


def _violations(server: Postgres, web: ManyHosts) -> list[str]:
    found, pages = [], HOSTS * PAGES
    ledger = ledger_of(server, "trial")
    if ledger != (pages, pages, 0):
        found.append(f"{pages} pages, but {ledger}")
    try:
        web.require_polite(PAUSE)
    except AssertionError as error:
        found.append(str(error))
    return found
