"""After a power cut only what was not yet synced may be gone, in any mixture, and is then done again."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sumi.model import PageFacts
from sumi.state.journal.records import Amended, Ended, decode
from tests.site import running_site
from tests.torture.earlier_files import harm_packs, put_back
from tests.torture.harness import Bench

Harm = Callable[[bytes, random.Random], bytes]


def lost(tail: bytes, chance: random.Random) -> bytes:
    return b""


def torn(tail: bytes, chance: random.Random) -> bytes:
    return tail[: chance.randrange(len(tail) + 1)]


def zeroed(tail: bytes, chance: random.Random) -> bytes:
    """The length arrived, the content did not."""
    kept = chance.randrange(len(tail) + 1)
    return tail[:kept] + bytes(len(tail) - kept)


def garbled(tail: bytes, chance: random.Random) -> bytes:
    """A block in the middle holds what was on the disk before; those after it arrived."""
    start = chance.randrange(len(tail) + 1)
    return tail[:start] + chance.randbytes(min(512, len(tail) - start)) + tail[start + 512 :]


def kept(tail: bytes, chance: random.Random) -> bytes:
    return tail


HARMS: tuple[Harm, ...] = (lost, torn, zeroed, garbled, kept)


@dataclass(frozen=True)
class Finished:
    bench: Bench
    output: Path

    def cut(self, synced: int, harm: Harm, chance: random.Random) -> Path:
        """The mirror as a power cut may leave it, had its last sync been after ``synced`` records."""
        output = self.bench.output(like=self.output)
        home = self.bench.home(output)
        journal = home / ".sumi" / "journal-000001.log"
        lines = [line for line in journal.read_bytes().splitlines(keepends=True) if not _is_mark(line)]
        renaming = next((n for n, line in enumerate(lines) if b'"type":"amend"' in line), len(lines))
        if synced < renaming:  # it is synced before it begins
            put_back(output, _paths_by(lines), _paths_by(lines[:renaming]))
            lines = lines[:renaming]
        safe, tail = b"".join(lines[:synced]), b"".join(lines[synced:])
        journal.write_bytes(safe + harm(tail, chance))
        for path in _files_of(lines[synced:], home):
            _harm_file(path, chance)
        harm_packs(home, _facts_in(lines[:synced]), harm, chance)
        for name in ("_manifest.json", "_index.md", "_progress.json", "_checkpoint.json", "_processed.txt"):
            _harm_file(home / name, chance)
        return output


def _is_mark(line: bytes) -> bool:
    return b'"type":"sync"' in line


def _files_of(lines: list[bytes], home: Path) -> Iterator[Path]:
    for line in lines:
        record = decode(line[18:-1])
        if isinstance(record, Ended) and record.facts.path is not None:
            yield home.parent / record.facts.path


def _paths_by(lines: list[bytes]) -> dict[str, str]:
    paths = {}
    for line in lines:
        record = decode(line[18:-1])
        if isinstance(record, Ended | Amended) and record.facts.path is not None:
            paths[record.url] = record.facts.path
    return paths


def _facts_in(lines: list[bytes]) -> Iterator[PageFacts]:
    for line in lines:
        record = decode(line[18:-1])
        if isinstance(record, Ended):
            yield record.facts


def _harm_file(path: Path, chance: random.Random) -> None:
    """Written whole and renamed, but never synced: any of these can be what is found."""
    harm = chance.choice(HARMS)
    if harm is lost and chance.random() < 0.5:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(harm(path.read_bytes(), chance))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    with running_site(pages=30, seed=9) as site:
        bench = Bench(site, tmp_path_factory.mktemp("power"))
        output = bench.output()
        assert bench.run(output).code in (0, 1)
        yield Finished(bench, output)


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_whatever_was_not_synced_is_done_again(finished: Finished, harm: Harm) -> None:
    bench = finished.bench
    chance = random.Random(harm.__name__)
    journal = bench.home(finished.output) / ".sumi" / "journal-000001.log"
    records = sum(not _is_mark(line) for line in journal.read_bytes().splitlines(keepends=True))
    for synced in chance.sample(range(3, records), 3):
        bench.site.clear_log()
        output = finished.cut(synced, harm, chance)
        assert bench.violations(output, kills=9) == [], f"{harm.__name__} after record {synced}"


def test_what_was_synced_is_not_fetched_again(finished: Finished) -> None:
    bench = finished.bench
    journal = bench.home(finished.output) / ".sumi" / "journal-000001.log"
    lines = [line for line in journal.read_bytes().splitlines(keepends=True) if not _is_mark(line)]
    half = len(lines) // 2
    bench.site.clear_log()
    assert bench.violations(finished.cut(half, lost, random.Random(1)), kills=9) == []
    safe = {record.url for line in lines[:half] if isinstance(record := decode(line[18:-1]), Ended)}
    asked = {bench.site.url + request.path for request in bench.site.requests()}
    assert len(safe) > 5
    assert not safe & asked
