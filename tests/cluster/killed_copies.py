"""A mirror is copied into a database and back, and the copying process is killed as it is about to say
something to the database: the source stays whole, and the target is absent or complete."""

import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import msgspec

from sumi.errors import IN_USE
from tests.cluster.between import between
from tests.commands import sumi_command, sumi_environment
from tests.folder_site import FolderSite
from tests.postgres import Postgres

MOST_TRIES = 20
FAST = ("--rate-limit", "0", "--retries", "0", "-q")


class KilledCopies:
    def __init__(self, postgres: Postgres, site: FolderSite, folder: Path, job: str) -> None:
        self._postgres, self._site, self._folder, self._job = postgres, site, folder, job
        self.wrong: list[str] = []

    def attempt(self, message: int) -> list[str]:
        """Killed before it says the ``message``-th thing, once on the way up and once on the way down."""
        self._run("mirror", self._site.url, *FAST, code=1)
        here = ("output",)
        there = (self._postgres.address(), "--job", self._job)
        up = (
            "state",
            "migrate",
            "output",
            "{}",
            "--job",
            self._job,
            "--store",
            f"file://{self._folder}/store",
        )
        down = ("state", "migrate", "{}", "back", "--job", self._job)
        self._killed(up, message)
        if not self._has_job():
            self._run(*(word.format(there[0]) for word in up))
        self._killed(down, message)
        if not (self._folder / "back").exists():
            self._run(*(word.format(there[0]) for word in down))
        for place in (here, there, ("back",)):
            self._run("state", "check", *place, "--deep")
            if self._outcomes(place) != self._outcomes(here):
                self.wrong.append(f"{place[0]} has {self._outcomes(place)}, not {self._outcomes(here)}")
        return self.wrong

    def _run(self, *words: str, code: int = 0) -> str:
        for _ in range(MOST_TRIES):  # a killed command keeps its job until the server notices
            done = subprocess.run(
                sumi_command(words),
                cwd=self._folder,
                env=sumi_environment(None),
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != IN_USE:
                break
        if done.returncode != code:
            self.wrong.append(f"{' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def _killed(self, words: tuple[str, ...], message: int) -> None:
        with between(self._postgres.port) as line:
            heard = 0

            def kill(_said: bytes) -> str | None:
                nonlocal heard
                heard += 1
                if heard != message:
                    return None
                os.kill(running.pid, signal.SIGKILL)
                return "hold before"

            line.heard = kill
            address = self._postgres.address(port=line.port)
            command = sumi_command(tuple(word.format(address) for word in words))
            with subprocess.Popen(
                command,
                cwd=self._folder,
                env=sumi_environment(None),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as running:
                running.wait(timeout=120)

    def _has_job(self) -> bool:
        found = f"SELECT count(*) FROM sumi.job WHERE name = '{self._job}' AND state = 'ready'"
        return self._postgres.sql(found).strip() == "1"

    def _outcomes(self, place: tuple[str, ...]) -> Counter[str]:
        shown = self._run("status", *place, "--json")
        return +Counter(msgspec.json.decode(shown or "{}").get("outcomes", {}))
