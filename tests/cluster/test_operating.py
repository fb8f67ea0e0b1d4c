"""Logins have no more rights than they need, and ``sumi doctor`` says what is wrong with a server."""

import re
from pathlib import Path

import pytest

from tests.cluster.many_hosts import many_hosts
from tests.cluster.planted import SHORT, plant
from tests.commands import RunSumi
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
