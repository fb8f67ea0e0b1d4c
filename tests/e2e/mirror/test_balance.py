"""The ledger balances however a run ends: summary, manifest and status account for every URL, once."""

import signal
from pathlib import Path
from typing import Any

import msgspec

from tests.commands import RunSumi, SpawnSumi
from tests.e2e.mirror.test_control import wait_for_event, wait_for_requests
from tests.site import MakeSite

FAST = ("--rate-limit", "0", "--json")


def assert_accounted(summary: dict[str, Any], run_sumi: RunSumi, tmp_path: Path, *, manifest: bool) -> None:
    outcomes = summary["outcomes"]
    assert sum(outcomes.values()) == summary["discovered"] > 0
    status = msgspec.json.decode(run_sumi("status", "--json").stdout)
    assert status["balanced"]
    assert status["discovered"] == summary["discovered"]
    assert status["outcomes"] == outcomes
    if summary["status"] == "complete":
        assert not outcomes.keys() & {"pending", "over_cap"}
    (written,) = tmp_path.glob("output/*/_manifest.json") if manifest else (None,)
    if written is not None:
        told = msgspec.json.decode(written.read_bytes())
        assert sum(told["outcomes"].values()) == told["discovered"] == summary["discovered"]


def test_one_page(run_sumi: RunSumi, make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=5, seed=1)
    run = run_sumi("mirror", f"{site.url}/bad/gzip-ok", *FAST)
    assert (run.returncode, run.events[-1]["status"], run.events[-1]["alone"]) == (0, "limited", True)
    assert_accounted(run.events[-1], run_sumi, tmp_path, manifest=True)
    assert msgspec.json.decode(run_sumi("status", "--json").stdout)["state"] == "limited"


def test_with_failures_then_capped_then_resumed(
    run_sumi: RunSumi, make_site: MakeSite, tmp_path: Path
) -> None:
    site = make_site(pages=40, seed=2)
    capped = run_sumi("mirror", site.url, *FAST, "--max-pages", "9").events[-1]
    assert capped["outcomes"]["over_cap"] > 0
    assert_accounted(capped, run_sumi, tmp_path, manifest=True)
    assert msgspec.json.decode(run_sumi("status", "--json").stdout)["state"] == capped["status"]
    whole = run_sumi("mirror", site.url, *FAST).events[-1]
    assert whole["status"] == "partial"
    assert whole["outcomes"]["not_found"] > 0
    assert_accounted(whole, run_sumi, tmp_path, manifest=True)


def test_interrupted_and_aborted(
    run_sumi: RunSumi, spawn_sumi: SpawnSumi, make_site: MakeSite, tmp_path: Path
) -> None:
    site = make_site(pages=60, seed=2, delay_ms=300)
    running = spawn_sumi("mirror", site.url, *FAST, "--concurrency", "4")
    wait_for_requests(site, running, 10)
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(30) == 3
    assert_accounted(running.events[-1], run_sumi, tmp_path, manifest=True)
    running = spawn_sumi("mirror", site.url, *FAST, "--concurrency", "4")
    wait_for_requests(site, running, len(site.requests()) + 4)
    running.process.send_signal(signal.SIGTERM)
    wait_for_event(running, "state")
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(30) == 4
    assert running.events[-1]["status"] == "aborted"
    assert_accounted(running.events[-1], run_sumi, tmp_path, manifest=False)
