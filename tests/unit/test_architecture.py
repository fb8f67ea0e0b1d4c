"""What the documents say of the layout of the code is so."""

import re
import tomllib
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("document", [DOCUMENTS[0]])
def test_files_and_folders_that_are_named_are_there(document: str) -> None:
    named = set(re.findall(r"`([a-z_]+/(?:[a-z_]+/)*(?:[a-z_]+\.py)?)`", (ROOT / document).read_text()))
    assert len(named) > 10
    assert {name for name in named if not (SOURCE / name).exists()} == set()
