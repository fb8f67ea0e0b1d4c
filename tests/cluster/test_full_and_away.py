"""The object store is busy, slow, full or loses its answers, and the database's disk is full: pages wait, no
ending is without its content, and everything goes on by itself."""

import re
from pathlib import Path

import pytest

from tests.cluster.faulty_store import faulty
from tests.cluster.many_hosts import many_hosts
from tests.cluster.planted import SHORT, ledger_of, own_server, plant
from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.object_stores import BUCKET, moto
from tests.postgres import Postgres

pytest.importorskip("obstore")

HOSTS, PAGES = 3, 12
# The error of a full disk, raised where the endings are written.
_DISK = """CREATE TABLE public.disk AS SELECT false AS is_full;
CREATE FUNCTION public.no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF (SELECT is_full FROM public.disk) THEN
RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
END IF; RETURN NEW; END $$;
CREATE TRIGGER no_room BEFORE INSERT ON sumi.ending FOR EACH ROW EXECUTE FUNCTION public.no_room();"""
_FULL, _ROOM = ("UPDATE public.disk SET is_full = true", "UPDATE public.disk SET is_full = false")


@pytest.fixture
def job(tmp_path: Path) -> str:
    return re.sub(r"\W", "-", tmp_path.name)


@pytest.mark.parametrize("fault", ["busy", "full", "slow", "cut"])
def test_pages_wait_for_a_store_that_cannot_be_written_and_none_is_fetched_twice(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str, fault: str
) -> None:
    address = postgres.address()
    with many_hosts(hosts=HOSTS, pages=PAGES) as web, faulty(moto()) as store:
        env = {**store.environ(moto()), "XDG_CACHE_HOME": str(tmp_path / "cache")}
        words = ("--rate-limit", "20", "--state", address, "--job", job, "--store", f"s3://{BUCKET}/{job}")
        running = spawn_sumi("mirror", web.start, *words, *web.options(), env=env)
        wait_until(running, lambda: ledger_of(postgres, job).settled > 0)
        store.fault = fault
        wait_until(running, store.struck.is_set)
        settled = ledger_of(postgres, job).settled
        if fault in ("busy", "full"):
            wait_until(running, lambda: "pages wait in flight" in running.stderr.read_text())
        if fault != "cut":  # what was under way when the fault began may have been stored
            assert ledger_of(postgres, job).settled <= settled + HOSTS
        store.fault = ""
        store.released.set()
        assert running.process.wait(timeout=90) == 0, running.stderr.read_text()
        assert ledger_of(postgres, job) == (HOSTS * PAGES, HOSTS * PAGES, 0)
        assert set(web.pages_asked().values()) == {1}
        checked = run_sumi("state", "check", address, "--job", job, "--deep", env=env)
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_workers_wait_until_the_disk_of_the_database_has_room_again(
    postgres: Postgres, run_sumi: RunSumi, spawn_sumi: SpawnSumi, tmp_path: Path, job: str
) -> None:
    """Segments are stored whose pages cannot be settled: they are garbage, and no ending is without one."""
    with own_server() as own, many_hosts(hosts=HOSTS, pages=PAGES) as web:
        plant(own, web, job, SHORT, 0.05, store=f"file://{tmp_path}/store")
        own.sql(_DISK)
        worker = spawn_sumi("worker", own.address(), "--job", job, "-o", "one")
        wait_until(worker, lambda: ledger_of(own, job).settled > 0)
        own.sql(_FULL)
        wait_until(worker, lambda: "No space left" in worker.stderr.read_text())
        settled = ledger_of(own, job).settled
        own.sql(_ROOM)
        assert worker.process.wait(timeout=120) == 0, worker.stderr.read_text()
        assert 0 < settled < HOSTS * PAGES
        assert ledger_of(own, job) == (HOSTS * PAGES, HOSTS * PAGES, 0)
        web.require_polite(0.05)
        checked = run_sumi("state", "check", own.address(), "--job", job, "--deep")
        assert checked.returncode == 0, checked.stdout + checked.stderr
        young = run_sumi("state", "gc", own.address(), "--job", job)
        assert " 0 are too young" not in young.stdout, young.stdout
