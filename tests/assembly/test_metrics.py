"""``--metrics-file`` holds true figures in a form that Prometheus reads, at any moment and in every job."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sumi.assembly.metrics import MetricsFile
from sumi.errors import UsageError
from sumi.events import HostWaits, PageDeferred, PageSettled, Progress, RunStarted, Summary
from tests.commands import ROOT, RunSumi
from tests.folder_site import folder_site

SAMPLE = re.compile(r'(sumi_[a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?[0-9.]+)')
DASHBOARD = ROOT / "deploy" / "grafana" / "sumi.json"


def samples(text: str) -> dict[str, float]:
    """Every line is a comment or a sample; each metric has its help and its type before it."""
    found: dict[str, float] = {}
    described: set[str] = set()
    for line in text.splitlines():
        if line.startswith("# "):
            described.add(line.split()[2])
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        name, labels, value = sample.groups()
        assert re.sub(r"_(bucket|sum|count)$", "", name) in described, line
        own = [
            part for part in (labels or "").split(",") if part and not part.startswith(("job=", "target="))
        ]
        found[name + "".join(own)] = float(value)
    return found


class Time:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_what_a_run_tells_is_counted(tmp_path: Path) -> None:
    clock, file = Time(), tmp_path / "sumi.prom"
    metrics = MetricsFile(str(file), clock)
    for event in (
        RunStarted("mirror", 'https://a.test/"x"\n', "output", False, 3),
        PageSettled("u1", "captured", "done", body_bytes=1000, latency_ms=40),
        PageSettled("u2", "captured", "done", body_bytes=500, latency_ms=300),
        PageSettled("u3", "not_found", "failed", body_bytes=10, latency_ms=60_000),
        PageSettled("u4", "excluded", "passed over"),
        PageDeferred("u5", "timed out", 1001.0),
        HostWaits("a.test", "answered 429", 1060.0, 2),
        Progress(3, 7, 1, 1, 2.5, 3.0),
    ):
        metrics(event)
    clock.now += 10
    metrics(Progress(3, 6, 1, 1, 2.5, 3.0))
    found = samples(file.read_text())
    assert found['sumi_pages_totaloutcome="captured"'] == 2
    assert found['sumi_body_bytes_totaloutcome="captured"'] == 1500
    assert found['sumi_pages_totaloutcome="excluded"'] == 1
    assert found['sumi_response_latency_seconds_bucketle="0.05"'] == 1
    assert found['sumi_response_latency_seconds_bucketle="0.5"'] == 2
    assert found['sumi_response_latency_seconds_bucketle="30"'] == 2
    assert found['sumi_response_latency_seconds_bucketle="+Inf"'] == 3
    assert found["sumi_response_latency_seconds_sum"] == pytest.approx(60.34)
    assert found["sumi_retries_total"] == 1
    assert (found["sumi_host_holds_total"], found["sumi_held_hosts"]) == (1, 1)
    assert found["sumi_queued_pages"] == 6
    clock.now += 100
    metrics(Summary("mirror", "partial", 5, {}, "output", 1.0))
    found = samples(file.read_text())
    assert found["sumi_held_hosts"] == 0
    assert found['sumi_run_statusstatus="partial"'] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["sumi.prom"]


def test_the_file_of_a_mirror_agrees_with_its_summary(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write(
            "index.html", '<h1>A</h1><p>Words of the start.</p><a href="b.html">b</a> <a href="c.html">c</a>'
        )
        site.write("b.html", "<h1>B</h1><p>Words of another page.</p>")
        done = run_sumi("mirror", site.url, "--rate-limit", "0", "--json", "--metrics-file", "m.prom")
    text = (tmp_path / "m.prom").read_text()
    found = samples(text)
    for outcome, number in done.events[-1]["outcomes"].items():
        assert found.get(f'sumi_pages_totaloutcome="{outcome}"', 0) == number, outcome
    assert found['sumi_body_bytes_totaloutcome="captured"'] > 0
    assert found["sumi_run_end_time_seconds"] >= found["sumi_run_start_time_seconds"]
    assert found["sumi_queued_pages"] == 0


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be written: No such file"):
        MetricsFile(str(tmp_path / "missing" / "sumi.prom"))


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_has_nothing_to_say(tmp_path: Path) -> None:
    file = tmp_path / "sumi.prom"
    metrics = MetricsFile(str(file))
    metrics(RunStarted("mirror", "https://a.test/", "output", False, 3))
    metrics(PageSettled("u1", "captured", "done", body_bytes=1000, latency_ms=40))
    metrics(Summary("mirror", "complete", 1, {}, "output", 1.0))
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=file.read_bytes(), capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


def test_the_dashboard_asks_only_for_metrics_that_exist(tmp_path: Path) -> None:
    metrics = MetricsFile(str(tmp_path / "sumi.prom"))
    metrics(Summary("mirror", "complete", 1, {}, "output", 1.0))
    metrics.close(lambda event: None)
    known = set(re.findall(r"^# TYPE (\S+)", (tmp_path / "sumi.prom").read_text(), re.MULTILINE))
    asked = set(re.findall(r"sumi_[a-z_]+", json.dumps(json.loads(DASHBOARD.read_text())["panels"])))
    assert asked
    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in asked} <= known
