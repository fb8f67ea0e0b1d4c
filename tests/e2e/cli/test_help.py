"""Help is short, whole on request, and true; shells and man pages get the same from the same tables."""

import argparse
import shutil
import subprocess
from pathlib import Path

import pytest

from sumi.cli.main import COMMANDS, Command, load_command
from sumi.cli.spelled import spelled
from sumi.jobs.mirror.settings import NOT_LISTED, NOT_PLANNED, SETTINGS
from tests.commands import RunSumi

MOST_OPTIONS = 15


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_short_help_has_few_options_and_examples(command: Command) -> None:
    parser = load_command(command).build_parser()
    text = parser.format_short_help()
    shown = [line for line in text.splitlines() if line.startswith(("  -", "  --"))]
    assert len([line for line in shown if "--help" not in line]) <= MOST_OPTIONS
    if parser.usual:
        assert f"{parser.prog} --help all shows" in text
        assert sum(line.startswith("  sumi ") for line in text.splitlines()) == 2, text
    whole = parser.format_help()
    assert all(name in whole for option in spelled(command).options for name in option.names)


def test_help_all_shows_everything(run_sumi: RunSumi) -> None:
    short, whole = run_sumi("mirror", "--help"), run_sumi("mirror", "--help", "all")
    assert (short.returncode, whole.returncode) == (0, 0)
    assert "--trap-pages" not in short.stdout
    assert "--trap-pages" in whole.stdout
    assert len(short.stdout) < len(whole.stdout) / 3


@pytest.mark.parametrize(("name", "unused"), [("plan", NOT_PLANNED), ("sitemap", NOT_LISTED)])
def test_what_a_command_does_not_use_is_accepted_but_not_shown(name: str, unused: frozenset[str]) -> None:
    (command,) = [command for command in COMMANDS if command.name == name]
    parser = load_command(command).build_parser()
    whole = parser.format_help()
    for setting in SETTINGS:
        if setting.name in unused:
            assert f"--{setting.name} " not in whole.replace("\n", " \n"), setting.name
    assert parser.parse_all(["docs.example.org", "-o", "docs", "--update"]).output == "docs"
    assert {setting.name for setting in SETTINGS} >= unused


def test_unused_settings_have_no_help_at_all() -> None:
    (command,) = [command for command in COMMANDS if command.name == "sitemap"]
    actions = load_command(command).build_parser()._actions
    assert any(action.help is argparse.SUPPRESS for action in actions)
    assert not any("--render" in option.names for option in spelled(command).options)


# ── shells ─────────────────────────────────────────────────────────────────────────────────────────────────

COMPLETED = {
    "sumi mir": "mirror",
    "sumi map ex": "export",
    "sumi mirror --follow": "--follow-links",
    "sumi mirror --on-error ": "skip retry abort",
    "sumi map export --for": "--format",
    "sumi completion ": "bash zsh fish",
}
_ASK_BASH = """
source /dev/stdin <<< "$1"
line="$2"
read -ra COMP_WORDS <<< "$line"
[[ "$line" == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
_sumi
echo "${COMPREPLY[@]}"
"""


def test_bash_completes_commands_options_and_values(run_sumi: RunSumi) -> None:
    script = run_sumi("completion", "bash").stdout
    for line, expected in COMPLETED.items():
        asked = subprocess.run(
            ["bash", "-c", _ASK_BASH, "bash", script, line], capture_output=True, text=True, check=True
        )
        assert (line, asked.stdout.split(), asked.stderr) == (line, expected.split(), "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_their_scripts(run_sumi: RunSumi, tmp_path: Path, shell: str) -> None:
    script = tmp_path / f"sumi.{shell}"
    script.write_text(run_sumi("completion", shell).stdout)
    text = script.read_text()
    assert all(command.name.split()[0] in text for command in COMMANDS)
    assert "follow-links" in text
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    read = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")


def test_fish_completes_what_bash_does(run_sumi: RunSumi) -> None:
    if shutil.which("fish") is None:
        pytest.skip("there is no fish here")
    script = run_sumi("completion", "fish").stdout
    for line, expected in COMPLETED.items():
        ask = f"{script}\ncomplete -C {line!r}"
        asked = subprocess.run(["fish", "-c", ask], capture_output=True, text=True, check=True)
        found = {each.partition("\t")[0] for each in asked.stdout.splitlines()}
        assert set(expected.split()) <= found, line


# ── man pages ──────────────────────────────────────────────────────────────────────────────────────────────


def test_every_command_has_a_manual_page(run_sumi: RunSumi, tmp_path: Path) -> None:
    done = run_sumi("man", "--output", "man1")
    assert done.returncode == 0
    names = {f"sumi-{command.name.replace(' ', '-')}.1" for command in COMMANDS} | {"sumi.1"}
    assert {path.name for path in (tmp_path / "man1").iterdir()} == names
    page = (tmp_path / "man1" / "sumi-mirror.1").read_text()
    assert page == run_sumi("man", "mirror").stdout
    assert r"\fB\-\-trap\-pages\fR" in page
    assert ".SH EXIT STATUS" in page


def test_groff_reads_the_pages_without_a_warning(run_sumi: RunSumi) -> None:
    if shutil.which("groff") is None:
        pytest.skip("there is no groff here")
    for words in ((), ("mirror",), ("map", "export")):
        text = run_sumi("man", *words).stdout
        read = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww"], input=text, capture_output=True, text=True, check=False
        )
        assert (read.returncode, read.stderr) == (0, "")
        assert "SUMI" in read.stdout


def test_a_page_of_no_command_is_refused(run_sumi: RunSumi) -> None:
    done = run_sumi("man", "nonsense")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
