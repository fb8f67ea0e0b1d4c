"""A crawl by policy that two machines share, each with the same configuration and a workspace of its own."""

import re
from pathlib import Path

import pytest

from tests.cluster.many_hosts import ManyHosts, many_hosts
from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.postgres import Postgres

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


def test_a_state_that_is_no_database_is_refused(run_sumi: RunSumi) -> None:
    refused = run_sumi("crawl", "run", "--config", "none.yaml", "--state", "sqlite")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "postgresql://" in refused.stderr
