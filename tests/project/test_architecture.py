"""What the documents say of the layout of the code is so."""

import re
import tomllib
from pathlib import Path

import pytest

from sumi.jobs.map.store.map_store import MapStore, MapView
from sumi.state.growing import GrowingStore
from sumi.state.journal.store import FilesSnapshot, FilesStore
from sumi.state.lmdb import LmdbStore
from sumi.state.memory import MemoryStore
from sumi.state.sqlite import SqliteStore

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "sumi"
DOCUMENTS = ("docs/architecture.md", "CONTRIBUTING.md")
BLOCK = re.compile(r"```text\n(cli.*?)```", re.DOTALL)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_layers_are_the_same_everywhere(document: str) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    block = BLOCK.search((ROOT / document).read_text())
    assert block is not None
    told = [_modules(line) for line in block[1].splitlines()]
    assert told == [layer.split(" | ") for layer in layers]


def _modules(line: str) -> list[str]:
    """``a | b  what they are`` → a, b."""
    first, *others = line.split(" | ")
    return [first.split()[0], *(word.split()[0] for word in others)]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_and_folders_that_are_named_are_there(document: str) -> None:
    named = set(re.findall(r"`([a-z_]+/(?:[a-z_]+/)*(?:[a-z_]+\.py)?)`", (ROOT / document).read_text()))
    assert len(named) > 10
    assert {name for name in named if not ((SOURCE / name).exists() or (ROOT / name).exists())} == set()


def test_every_step_of_a_page_names_the_files_that_take_it() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    way = text.partition("## One page's way through")[2].partition("\n## ")[0]
    steps = re.split(r"(?m)^(\d+)\. ", way)[1:]
    assert [int(number) for number in steps[::2]] == list(range(1, len(steps) // 2 + 1))
    files = [re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", step) for step in steps[1::2]]
    assert len(files) >= 8
    assert all(files)
    assert {name for step in files for name in step if not (SOURCE / name).is_file()} == set()


def test_every_decision_is_in_the_index() -> None:
    index = (ROOT / "docs/architecture.md").read_text().partition("\n## Decisions")[2]
    named = set(re.findall(r"\]\(decisions/([^)]+)\)", index))
    assert named == {path.name for path in (ROOT / "docs/decisions").iterdir()}


def test_no_store_has_more_than_two_ancestors() -> None:
    """What they share is a part that each has, not a class that each is."""
    stores = [FilesStore, FilesSnapshot, GrowingStore, LmdbStore, MapStore, MapView, MemoryStore, SqliteStore]
    for store in stores:
        ancestors = [one for one in store.__mro__[1:] if one.__module__.startswith("sumi.")]
        assert len(ancestors) <= 2, (store, ancestors)
