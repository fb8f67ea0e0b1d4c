"""Killed or failed at any call that changes the disk, a mirror run again has everything once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.thoroughness import usually
from tests.torture.harness import state_choices, state_options, why_no_strace
from tests.torture.plan import ERRORS, KILLS, Injection, Situation, sampled, situations

REASON = why_no_strace()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "strace works")

# ``make torture`` tries every different moment; here a sample, always the same, most of the default backend.
SAMPLES = usually(
    {"first run": 4, "strict": 1, "going on": 3},
    {"first run": 11, "strict": 2, "going on": 6},
)
FEWER = usually(
    {"first run": 2, "strict": 1, "going on": 1},
    {"first run": 4, "strict": 1, "going on": 3},
)
SEED = 20


@pytest.fixture(scope="module", params=state_choices())
def tortured(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, list[Situation]]]:
    folder: Path = tmp_path_factory.mktemp("torture")
    with situations(folder, state_options(request.param)) as found:
        yield request.param, found


def sample(state: str, situation: Situation, faults: dict[str, tuple[str, ...]]) -> list[Injection]:
    counts = SAMPLES if state == "files" else FEWER
    return sampled(situation.injections(faults), counts[situation.name], SEED)


@pytest.mark.parametrize("faults", [KILLS, ERRORS], ids=["killed", "failed"])
@pytest.mark.parametrize("name", list(SAMPLES))
def test_whatever_happens_to_a_call_the_next_run_puts_it_right(
    tortured: tuple[str, list[Situation]],
    name: str,
    faults: dict[str, tuple[str, ...]],
) -> None:
    state, found = tortured
    (situation,) = [one for one in found if one.name == name]
    broken = {}
    for injection in sample(state, situation, faults):
        wrong = situation.attempt(injection).wrong
        if wrong:
            broken[str(injection)] = wrong
    assert broken == {}


def test_the_fault_does_happen(tortured: tuple[str, list[Situation]]) -> None:
    """Without this, a sweep that never hit anything would pass."""
    situation = tortured[1][0]
    traced, paths = situation.traced, situation.traced.paths
    assert traced.count("write") + traced.count("pwrite64") > 30
    assert traced.count("unlinkat") > 0
    with situation.bench.tried() as output:
        killed = situation.bench.inject(output, paths, "renameat", "signal=KILL:when=9")
        assert killed.code == -9
        assert situation.bench.home(output).is_dir()
        assert not (situation.bench.home(output) / "_manifest.json").exists()
    with situation.bench.tried() as output:
        failed = situation.bench.inject(output, paths, "renameat", "error=ENOSPC:when=9")
        assert failed.code == 8
        assert ["no space left to write" in line for line in failed.complaints] == [True]
