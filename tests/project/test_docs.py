"""The pages made from the code are those of this code, and no link in the documentation leads nowhere."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from sumi.cli.main import COMMANDS, load_command
from sumi.cli.reference import PAGES, write_pages
from sumi.jobs.mirror.settings import SETTINGS
from sumi.jobs.pipeline.pages_csv import COLUMNS
from sumi.outcomes import Outcome

ROOT = Path(__file__).parents[2]
WRITTEN = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
SHELL = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SUMI = re.compile(r"(?:\$ )?(?:[A-Z_]+=\S+ )*sumi (.*)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_made_from_the_code_is_fresh(name: str) -> None:
    stored = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert stored == PAGES[name](), "stale: run `make docs`"


def test_the_pages_are_written_where_they_are_looked_for(tmp_path: Path) -> None:
    write_pages(tmp_path)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md")) == sorted(PAGES)


def test_nothing_is_left_undocumented() -> None:
    settings, mirror, cli, outcomes = (
        PAGES[name]()
        for name in (
            "reference/settings.md",
            "reference/commands/mirror.md",
            "reference/cli.md",
            "concepts/outcomes.md",
        )
    )
    for setting in SETTINGS:
        assert f"### {setting.name}\n" in settings
        assert setting.name == "url" or f"`--{setting.name}`" in mirror
    for command in COMMANDS:
        name = command.name.replace(" ", "-")
        assert f"[`sumi {command.name}`](commands/{name}.md)" in cli
        assert PAGES[f"reference/commands/{name}.md"]().startswith(f"# sumi {command.name}\n")
    for outcome in Outcome:
        assert f"`{outcome.value}`" in outcomes
    guide = (ROOT / "docs/guides/crawl.md").read_text(encoding="utf-8")
    assert ", ".join(f"`{column}`" for column in COLUMNS) in " ".join(guide.split())


def test_every_command_says_what_it_does_with_examples() -> None:
    for command in COMMANDS:
        parser = load_command(command).build_parser()
        assert parser.prog == f"sumi {command.name}"
        assert parser.description
        assert "examples:\n  sumi " in (parser.epilog or ""), command.name


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, fragment = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), f"{target} does not exist"
        assert not fragment or fragment in _anchors(linked), f"{target} has no such heading"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def shown_commands(page: Path) -> Iterator[list[str]]:
    """What follows ``sumi`` on the lines of a page that show how to call it, up to a pipe."""
    for block in SHELL.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            shown = SUMI.match(line)
            if shown is not None:
                words = shlex.split(shown[1], comments=True)
                yield words[: words.index("|")] if "|" in words else words


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_shown_is_one(page: Path) -> None:
    names = [command.name.split() for command in COMMANDS]
    for words in shown_commands(page):
        found = next((at for at, name in enumerate(names) if words[: len(name)] == name), None)
        assert found is not None, f"sumi {shlex.join(words)}: no such command"
        if "--help" not in words:
            load_command(COMMANDS[found]).build_parser().parse_all(words[len(names[found]) :])


def test_commands_are_found_in_pages() -> None:
    assert ["mirror", "https://docs.example.org", "--update"] in shown_commands(ROOT / "docs" / "index.md")
