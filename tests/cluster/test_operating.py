"""Logins have no more rights than they need, and ``sumi doctor`` says what is wrong with a server."""

import asyncio
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sumi.inspection.shared_jobs import looking_at_job
from sumi.model import Candidate, Hop
from sumi.ports import Judged, UrlRecord
from sumi.state.check import ledger_violations
from sumi.state.cluster.snapshot import ClusterSnapshot
from sumi.state.cluster.store import ClusterStore
from tests.cluster.conftest import MakeJob
from tests.cluster.many_hosts import many_hosts
from tests.cluster.planted import SHORT, plant
from tests.cluster.same_outcomes import BRISK, UNPACED, now
from tests.cluster.test_seen_memory import settled
from tests.cluster.test_store import page
from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.postgres import Postgres


@pytest.fixture
def job(tmp_path: Path) -> str:
    return re.sub(r"\W", "-", tmp_path.name)


def login(postgres: Postgres, name: str, role: str) -> str:
    """The address for a new login, which is a member of ``role`` if it is given."""
    postgres.sql(f"CREATE ROLE {name} LOGIN")
    if role:
        postgres.sql(f"GRANT {role} TO {name}")
    return postgres.address().replace("sumi@", f"{name}@")


def test_a_worker_can_work_but_not_change_tables_and_a_reader_can_only_look(
    postgres: Postgres, run_sumi: RunSumi, job: str
) -> None:
    worker = login(postgres, "a_worker", "sumi_worker")
    reader = login(postgres, "a_reader", "sumi_reader")
    stranger = login(postgres, "a_stranger", "")
    with many_hosts(hosts=2, pages=3) as web:
        plant(postgres, web, job, SHORT, 0.0)
        refused = run_sumi("worker", reader, "--job", job, "-o", "none")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "sumi_worker" in refused.stderr
        done = run_sumi("worker", worker, "--job", job, "-q")
        assert done.returncode == 0, done.stderr
        assert set(web.pages_asked().values()) == {1}
    assert "complete" in run_sumi("status", reader, "--job", job).stdout
    assert "worker" in run_sumi("doctor", worker).stdout
    assert "may not read" in run_sumi("status", stranger).stderr
    assert run_sumi("pause", reader, "--job", job).returncode == 2
    for forbidden in ("DELETE FROM sumi.url", "DROP TABLE sumi.mail", "UPDATE sumi.version SET number = 2"):
        assert "permission denied" in postgres.error(forbidden, worker) or "owner" in postgres.error(
            forbidden, worker
        )


def test_each_role_can_do_what_the_guide_says_and_no_more(
    postgres: Postgres, run_sumi: RunSumi, tmp_path: Path, job: str
) -> None:
    pytest.importorskip("obstore")
    worker = login(postgres, "making_worker", "sumi_worker")
    reader = login(postgres, "only_reader", "sumi_reader")
    env, named = {"XDG_CACHE_HOME": str(tmp_path / "cache")}, ("--job", job)
    store = f"file://{tmp_path}/store"
    with many_hosts(hosts=2, pages=3) as web:
        words = ("--state", worker, *named, "--store", store, "--rate-limit", "0", "-q", *web.options())
        made = run_sumi("mirror", web.start, *words, env=env)
        assert made.returncode == 0, made.stderr
        may = [
            *((who, verb) for who in (worker, reader) for verb in (("status",), ("state", "check"))),
            *((reader, verb) for verb in (("explain", web.start, "--in"), ("export", "jsonl"))),
            *((worker, verb) for verb in (("pause",), ("resume",), ("stop",), ("resume",), ("state", "gc"))),
        ]
        for who, verb in may:
            done = run_sumi(*verb, who, *named, env=env)
            assert done.returncode == 0, f"{who} {verb}: {done.stderr}"
        for command in ("pause", "stop", "worker"):
            refused = run_sumi(command, reader, *named, env=env)
            assert (refused.returncode, "GRANT sumi_worker" in refused.stderr) == (2, True), refused.stderr
        assert "does not own the tables" in run_sumi("state", "setup", worker).stdout
        moved = run_sumi("state", "migrate", worker, "back", *named, env=env)
        assert moved.returncode == 0, moved.stderr  # down is only read
        up = run_sumi("state", "migrate", "back", worker, "--job", f"{job}-2", "--store", store, env=env)
        assert up.returncode == 0, up.stderr  # what a killed copy left is the owner's to remove


def test_the_doctor_names_what_is_wrong_with_a_server(postgres: Postgres, run_sumi: RunSumi) -> None:
    found = run_sumi("doctor", postgres.address())
    assert found.returncode == 1  # the tests' own server does without fsync
    wrong = [line for line in found.stdout.splitlines() if "WRONG" in line]
    assert [line.split()[0] for line in wrong] == ["fsync"]
    postgres.create("bare")
    assert "sumi state setup" in run_sumi("doctor", postgres.address("bare")).stdout


@pytest.fixture(scope="module")
def guarded(postgres: Postgres) -> str:
    """The address, for a login that needs a password, from which one that is turned away is made."""
    rules = Path(postgres.sql("SHOW hba_file").strip())
    own = "host all with_password 127.0.0.1/32 scram-sha-256\nhost all turned_away 127.0.0.1/32 reject\n"
    rules.write_text(own + rules.read_text())
    postgres.sql("CREATE ROLE with_password LOGIN PASSWORD 'right'")
    postgres.sql("CREATE ROLE without_rights LOGIN")
    postgres.create("closed")
    postgres.sql("REVOKE CONNECT ON DATABASE closed FROM PUBLIC")
    postgres.sql("SELECT pg_reload_conf()")
    return postgres.address().replace("sumi@", "with_password@")


@pytest.mark.parametrize(
    ("who", "database", "said"),
    [
        ("with_password", "postgres", "PGPASSWORD"),
        ("turned_away", "postgres", "pg_hba.conf admit"),
        ("nobody_there", "postgres", "CREATE ROLE"),
        ("sumi", "not_there", "createdb"),
        ("without_rights", "closed", "GRANT CONNECT"),
        ("without_rights", "postgres", "GRANT sumi_worker"),
    ],
)
@pytest.mark.parametrize("command", [("doctor",), ("worker",)])
def test_why_a_login_cannot_be_used_is_one_sentence_that_says_what_to_do(
    run_sumi: RunSumi, guarded: str, command: tuple[str, ...], who: str, database: str, said: str
) -> None:
    address = guarded.replace("with_password@", f"{who}@").replace("/postgres", f"/{database}")
    refused = run_sumi(*command, address, env={"PGPASSWORD": "wrong"})
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert said in refused.stderr
    assert "wrong" not in refused.stderr


def test_tables_of_another_version_and_the_clock_are_told(postgres: Postgres, run_sumi: RunSumi) -> None:
    postgres.create("another_version")
    address = postgres.address("another_version")
    assert run_sumi("state", "setup", address).returncode == 0
    postgres.sql("UPDATE sumi.version SET number = 99", "another_version")
    found = run_sumi("doctor", address).stdout
    assert re.search(
        r"^ *tables +format 99 +WRONG: this version of sumi needs format 1$", found, re.MULTILINE
    )
    assert re.search(r"^ *clock +as ours$", found, re.MULTILINE)
    refused = run_sumi("worker", address)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "the same version of sumi" in refused.stderr


def test_a_check_beside_workers_that_go_on_counts_one_moment(
    postgres: Postgres, make: MakeJob, tmp_path: Path
) -> None:
    """A page is settled between the reading of records and of counts, at every record that is read."""
    job, pages = make(), [page("a.test", number) for number in range(6)]

    async def scenario() -> None:
        store = ClusterStore(postgres.address(), job.id, UNPACED, now(), clock=now, timing=BRISK)
        await store.open()
        await store.add([Judged(Candidate(url, Hop.SEED)) for url in pages])
        async with looking_at_job(postgres.address(), job, at_one_moment=True) as looking:
            disturbed: Any = Disturbed(looking, store)
            found = [words async for words in ledger_violations(disturbed, 0)]
        assert found == []
        assert (await store.stats()).captured == len(pages)
        await store.aclose()

    asyncio.run(scenario())


class Disturbed:
    """What somebody sees who looks while a worker settles a page."""

    def __init__(self, looking: ClusterSnapshot, store: ClusterStore) -> None:
        self._looking, self._store = looking, store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._looking, name)

    async def records(self) -> AsyncIterator[UrlRecord]:
        async for record in self._looking.records():
            yield record
            await settled(self._store, 1)


def test_what_is_not_in_the_database_is_said(
    postgres: Postgres, run_sumi: RunSumi, tmp_path: Path, job: str
) -> None:
    postgres.create("without_jobs")
    address = postgres.address("without_jobs")
    assert run_sumi("state", "setup", address).returncode == 0
    assert "no job" in run_sumi("status", address).stdout
    assert run_sumi("status", address, "--json").stdout == ""
    with many_hosts(hosts=1, pages=2) as web:
        words = ("--state", address, "--job", job, "--rate-limit", "0", "--max-pages", "1", *web.options())
        done = run_sumi("mirror", web.start, *words)
        assert done.returncode == 0, done.stderr
        stopped = run_sumi("stop", address, "--job", job)
        assert stopped.returncode == 0
    refused = run_sumi("search", "page", "--in", address)
    assert refused.returncode == 2
    assert "folders of its workers" in refused.stderr


def test_the_command_that_continues_names_the_database_as_it_was_given(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, job: str
) -> None:
    with many_hosts(hosts=2, pages=30) as web:
        words = ("--state", postgres.address(), "--job", job, "--rate-limit", "20", *web.options())
        running = spawn_sumi("mirror", web.start, *words)
        wait_until(running, lambda: len(web.log) > 4)
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(timeout=60) == 3
    assert f"--state {postgres.address()} --job {job}" in running.stderr.read_text().replace("'", "")


def test_what_a_shared_mirror_says_to_do_next_can_be_done(
    postgres: Postgres, run_sumi: RunSumi, tmp_path: Path, job: str
) -> None:
    pytest.importorskip("obstore")
    address = postgres.address()
    with many_hosts(hosts=1, pages=3) as web:
        words = ("--rate-limit", "0", *web.options(), "--state", address, "--job")
        stored = run_sumi("mirror", web.start, *words, job, "--store", f"file://{tmp_path}/store")
        assert f"look        sumi serve {address}" in stored.stderr
        plain = run_sumi("mirror", web.start, *words, f"{job}-2")
        assert "  look  " not in plain.stderr
        missing = ("--urls-from", "urls.txt", "--retries", "0")
        (tmp_path / "urls.txt").write_text(f"{web.start}\n{web.start}missing\n")
        partial = run_sumi("mirror", web.start, *words, f"{job}-3", *missing)
    assert f"sumi explain URL --in {address} --job {job}-3" in partial.stderr
