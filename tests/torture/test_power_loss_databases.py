"""After a power cut at any moment a database opens, and only what was not yet synced is done again."""

import asyncio
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sumi.model import PageFacts
from sumi.ports import UrlRecord
from sumi.state.folder import LOOKING, backend_named
from tests.site import running_site
from tests.torture.disk_log import HARMS, Event, Harm, Sync, Write, after_power_cut, kept, lost
from tests.torture.earlier_files import harm_packs, put_back, without_raw_page
from tests.torture.harness import Bench, why_no_strace

REASON = why_no_strace()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "strace works")

FILES = {
    "sqlite": ("state.sqlite", "state.sqlite-wal", "state.sqlite-journal"),
    "lmdb": ("state.lmdb",),
}
CUTS = 2  # per kind of harm
DERIVED = ("_manifest.json", "_index.md", "_progress.json", "_checkpoint.json", "_processed.txt")


@dataclass(frozen=True)
class Recorded:
    """A finished mirror, and how its state came about, write by write."""

    bench: Bench
    backend: str
    output: Path
    events: list[Event]

    @property
    def moments(self) -> range:
        """Once the state is set up and until it is closed."""
        writes = [n for n, event in enumerate(self.events) if isinstance(event, Write)]
        return range(writes[len(writes) // 5], writes[-1] + 1)

    def cut(self, moment: int, harm: Harm, chance: random.Random) -> Path:
        """The mirror as it may be found after the power failed right after an event."""
        output = self.bench.output(like=self.output)
        state = self.bench.home(output) / ".sumi"
        now = _paths_of(self._records(state))
        for path in state.glob("state.*"):
            path.unlink()
        for path, content in after_power_cut(self.events[: moment + 1], harm, chance).items():
            if content:
                (state / path.name).write_bytes(content)
        safe, unsafe, then = self._recorded_in(state)
        put_back(output, now, then)
        home = self.bench.home(output)
        unsafe_files = {facts.path for facts in unsafe}
        safe_files = {facts.path for facts in safe}
        for path in home.rglob("index.md"):
            name = path.relative_to(output).as_posix()
            if name in unsafe_files:
                _harm_file(path, chance)
            elif name not in safe_files:
                path.unlink()  # of a page that was yet to come
        harm_packs(home, safe, harm, chance)
        for name in DERIVED:
            _harm_file(home / name, chance)
        return output

    def _recorded_in(self, state: Path) -> tuple[list[PageFacts], list[PageFacts], dict[str, str]]:
        """Pages that were on the disk for sure, the others, and paths by URL. Found out in a copy."""
        looked_at = state.with_name("looked-at")
        shutil.copytree(state, looked_at)
        records = self._records(looked_at)
        shutil.rmtree(looked_at)
        safe = [record.facts for record, synced in records if synced]
        unsafe = [record.facts for record, synced in records if not synced]
        return safe, unsafe, _paths_of(records)

    def _records(self, state: Path) -> list[tuple[UrlRecord, bool]]:
        async def look() -> list[tuple[UrlRecord, bool]]:
            store = backend_named(self.backend)(state, LOOKING, 0.0)
            unsynced = set(store.unsynced)
            found = [(record, record.url not in unsynced) async for record in store.records()]
            await store.aclose()
            return found

        return asyncio.run(look())

    def recorded_in(self, output: Path) -> list[PageFacts]:
        return [record.facts for record, _ in self._records(self.bench.home(output) / ".sumi")]


def _paths_of(records: list[tuple[UrlRecord, bool]]) -> dict[str, str]:
    return {record.url: record.facts.path for record, _ in records if record.facts.path is not None}


def _harm_file(path: Path, chance: random.Random) -> None:
    data, length = path.read_bytes(), chance.choice((0, 1, 2))
    if chance.random() < 0.3:
        path.unlink()
    else:
        path.write_bytes(data[: len(data) * length // 2])


@pytest.fixture(scope="module", params=sorted(FILES))
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    with running_site(pages=30, seed=9) as site:
        bench = Bench(site, tmp_path_factory.mktemp("power"), ("--state", request.param))
        output = bench.output()
        events = bench.record(output, FILES[request.param])
        yield Recorded(bench, request.param, output, events)


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_whatever_was_not_synced_is_done_again(recorded: Recorded, harm: Harm) -> None:
    bench, chance = recorded.bench, random.Random(harm.__name__)
    for moment in chance.sample(recorded.moments, CUTS):
        bench.site.clear_log()
        output = recorded.cut(moment, harm, chance)
        assert bench.violations(output, kills=9) == [], f"{harm.__name__} after event {moment}"
        assert without_raw_page(bench.home(output), recorded.recorded_in(output)) == []


def test_what_was_synced_is_not_asked_for_again(recorded: Recorded) -> None:
    bench = recorded.bench
    syncs = [n for n, event in enumerate(recorded.events) if isinstance(event, Sync)]
    output = recorded.cut(syncs[-2], lost, random.Random(1))
    bench.site.clear_log()
    assert bench.violations(output, kills=9) == []
    assert len(bench.site.requests()) < len(bench.site.truth.captured_by_sitemap)


def test_the_log_tells_the_whole_file(recorded: Recorded) -> None:
    """Without this, a sweep over files that were put together wrongly would prove nothing."""
    files = after_power_cut(recorded.events, kept, random.Random(1))
    for path in (recorded.bench.home(recorded.output) / ".sumi").glob(f"state.{recorded.backend}"):
        assert files[path] == path.read_bytes()
