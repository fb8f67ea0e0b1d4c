"""The fuzz targets hold for their seeds, for what once broke them, and for whatever Hypothesis thinks of."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.targets import CORPUS, NAMES, load, seeds

SEEDS = [(name, path) for name in NAMES for path in seeds(name)]
SMALL = 4096


@pytest.mark.parametrize(("name", "path"), SEEDS, ids=[f"{name}-{path.name}" for name, path in SEEDS])
def test_every_seed_keeps_the_promises(name: str, path: Path) -> None:
    load(name)(path.read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_every_target_has_small_seeds(name: str) -> None:
    assert seeds(name)
    assert all(path.stat().st_size <= SMALL for path in seeds(name))


def test_there_are_no_seeds_without_a_target() -> None:
    assert sorted(folder.name for folder in CORPUS.iterdir()) == sorted(NAMES)


def spliced(name: str) -> st.SearchStrategy[bytes]:
    """Pieces of seeds and of noise, in any order: nearer to the truth than noise alone."""
    known = [path.read_bytes() for path in seeds(name)]
    piece = st.builds(
        lambda seed, start, length: seed[start : start + length],
        st.sampled_from(known),
        st.integers(0, 300),
        st.integers(1, 100),
    )
    return st.lists(piece | st.binary(max_size=8), max_size=6).map(b"".join)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "http_answer"])
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_pieces_of_seeds_keep_the_promises(name: str, data: st.DataObject) -> None:
    load(name)(data.draw(spliced(name)))
