"""Nothing counts as stored before its segment is, whatever the store does; and nothing is read but what was
appended."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.errors import StorageFailed
from sumi.events import Busy, Event, Warned
from sumi.files.segments import RAW, TEXT, SegmentReader, SegmentWriter, place_in, place_text
from sumi.ports import Place
from tests.engine.world import in_free_time


class Store:
    """Fails as long as it is told to."""

    address = "s3://bucket/docs"

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.failures = 0
        self.writes: list[str] = []
        self.reads: list[tuple[str, int | None]] = []

    async def put(self, name: str, data: bytes) -> None:
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise StorageFailed(f"{self.address} cannot be written: no answer")
        assert self.objects.setdefault(name, data) == data, "an object was overwritten"
        self.writes.append(name)

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes | None:
        self.reads.append((name, length))
        data = self.objects.get(name)
        return data if data is None or length is None else data[start : start + length]


def writer(store: Store, told: list[Event], most_bytes: int = 100_000) -> SegmentWriter:
    return SegmentWriter(store, told.append, "w1", most_bytes=most_bytes, most_seconds=60, first_pause=0)


@given(st.lists(st.tuples(st.sampled_from([TEXT, RAW]), st.binary(max_size=3000)), max_size=60))
def test_every_body_is_read_back_from_its_place(bodies: list[tuple[str, bytes]]) -> None:
    async def write(store: Store) -> list[Place]:
        segments = writer(store, [], most_bytes=5000)
        places = [segments.add(kind, body) for kind, body in bodies]
        segments.close_segment()
        await segments.stored(places)
        await segments.aclose()
        return places

    store = Store()
    places = asyncio.run(write(store))
    reader = SegmentReader(store)
    for place, (_, body) in zip(places, bodies, strict=True):
        assert place_in(place_text(place)) == place
        assert reader.body(place) == body


def test_a_place_is_stored_only_when_its_segment_is() -> None:
    async def main() -> None:
        store, told = Store(), list[Event]()
        store.failures = 3
        segments = writer(store, told)
        place = segments.add(TEXT, b"a page")
        waiting = asyncio.create_task(segments.stored([place]))
        await asyncio.sleep(0)
        assert not waiting.done()
        assert segments.read(place) is not None
        segments.close_segment()
        await waiting
        assert place[0] in store.objects
        assert segments.read(place) is None
        assert [type(event) for event in told] == [Warned, Busy]
        assert "pages wait" in str(told[0])
        await segments.aclose()

    asyncio.run(main())


def test_a_segment_is_closed_when_it_is_old() -> None:
    async def main() -> None:
        segments = SegmentWriter(Store(), lambda event: None, most_seconds=0.01)
        await asyncio.wait_for(segments.stored([segments.add(TEXT, b"alone")]), 60)
        await segments.aclose()

    asyncio.run(main())


def test_a_segment_is_closed_when_it_is_large() -> None:
    async def main() -> None:
        store = Store()
        segments = writer(store, [], most_bytes=100)
        places = [segments.append(RAW, bytes(60)) for _ in range(5)]
        await asyncio.wait_for(segments.stored(places[:4]), 60)
        assert [place[0] for place in places] == sorted(place[0] for place in places)
        assert len({place[0] for place in places}) == 3
        await segments.aclose()

    asyncio.run(main())


def test_a_segment_is_as_old_as_its_own_beginning() -> None:
    async def main() -> None:
        store = Store()
        segments = writer(store, [], most_bytes=1000)
        full = segments.append(RAW, b"x" * 1000)
        await segments.stored([full])
        await asyncio.sleep(59)
        young = segments.append(RAW, b"y")
        await asyncio.sleep(59)
        assert store.writes == [full[0]]
        await asyncio.sleep(2)
        assert store.writes == [full[0], young[0]]
        await segments.aclose()

    in_free_time(main())


def test_no_two_writers_use_one_name() -> None:
    async def main() -> None:
        store = Store()
        for _ in range(20):
            segments = writer(store, [])
            place = segments.add(TEXT, b"the first of each")
            segments.close_segment()
            await segments.stored([place])
        assert len(store.objects) == 20

    asyncio.run(main())


def test_what_is_not_stored_at_the_end_is_given_up_and_not_stored_later() -> None:
    async def main() -> None:
        store = Store()
        store.failures = 1_000_000
        segments = writer(store, [])
        segments.add(TEXT, b"of a page that is not settled")
        segments.close_segment()
        await asyncio.sleep(0)
        await segments.aclose()
        store.failures = 0
        await asyncio.sleep(0)
        assert not store.objects

    asyncio.run(main())


def test_whoever_reads_much_of_a_segment_asks_twice() -> None:
    async def write(store: Store) -> list[Place]:
        segments = writer(store, [])
        places = [segments.add(TEXT, str(number).encode()) for number in range(50)]
        segments.close_segment()
        await segments.stored(places)
        return places

    store = Store()
    places = asyncio.run(write(store))
    reader = SegmentReader(store)
    assert [reader.body(place) for place in places] == [str(number).encode() for number in range(50)]
    assert [length is None for _, length in store.reads] == [False, True]


@pytest.mark.parametrize(
    "place",
    [
        "text/../../etc/passwd@0+10",
        "/etc/passwd@0+10",
        "text/a.zst@-1+10",
        "other/a.zst@0+10",
        "text/a/b.zst@0+10",
        "docs.example.org/index.md",
        "text/a.zst@0+9999999999999",
        "",
        None,
    ],
)
def test_only_places_in_segments_are_read(place: str | None) -> None:
    assert place_in(place) is None


def test_damage_is_not_read(tmp_path: Path) -> None:
    store = Store()
    store.objects["text/a-1.zst"] = b"no frame at all"
    reader = SegmentReader(store)
    assert reader.body(("text/a-1.zst", 0, 10)) is None
    assert reader.body(("text/a-1.zst", 3, 10)) is None
    assert reader.body(("text/a-1.zst", 10, 10)) is None
    assert reader.body(("text/a-2.zst", 0, 10)) is None
    assert reader.body(("../a-1.zst", 0, 10)) is None
    assert reader.body(("text/a-1.zst", -1, 10)) is None
