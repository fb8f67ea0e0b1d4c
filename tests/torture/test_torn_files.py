"""An append-only file torn anywhere near its end is mended: what was whole stays, what was torn is redone."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.site import RunningSite, running_site
from tests.torture.harness import Bench

TAIL = 200
CUTS = 4


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, Path]]:
    site: RunningSite
    with running_site(pages=25, seed=4) as site:
        bench = Bench(site, tmp_path_factory.mktemp("torn"))
        output = bench.output()
        assert bench.run(output).code in (0, 1)
        yield bench, output


def unmark(journal: Path) -> None:
    """As a power cut would leave it: the last second without its mark."""
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in lines if b'"type":"sync"' not in line))


@pytest.mark.parametrize("name", [".sumi/journal-000001.log", "_processed.txt", "_failed.log"])
def test_any_torn_tail(finished: tuple[Bench, Path], name: str) -> None:
    bench, whole = finished
    unmark(bench.home(whole) / ".sumi" / "journal-000001.log")
    size = (bench.home(whole) / name).stat().st_size
    assert size > 0
    for cut in random.Random(5).sample(range(max(0, size - TAIL), size), CUTS):
        output = bench.output(like=whole)
        bench.site.clear_log()
        path = bench.home(output) / name
        path.write_bytes(path.read_bytes()[:cut])
        before = [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
        assert bench.violations(output) == []
        assert path.read_bytes().startswith(b"".join(before))
        shutil.rmtree(output)


def test_damage_to_what_was_safe_is_refused(finished: tuple[Bench, Path]) -> None:
    bench, whole = finished
    output = bench.output(like=whole)
    assert bench.run(output).code in (0, 1)  # ends with a mark
    journal = bench.home(output) / ".sumi" / "journal-000001.log"
    damaged = bytearray(journal.read_bytes())
    damaged[len(damaged) // 3] ^= 1
    journal.write_bytes(damaged)
    ended = bench.run(output)
    assert (ended.code, len(ended.complaints)) == (4, 1)
    assert "is damaged at byte" in ended.complaints[0]
    assert journal.read_bytes() == bytes(damaged)
