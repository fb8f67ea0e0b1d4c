"""A page is settled only once its content can be read by anybody; while a store cannot be written, nothing
settles, leasing stops, and everything goes on afterwards."""

import dataclasses
from pathlib import Path

import msgspec

from sumi.engine.held_pages import MOST_HELD
from sumi.errors import StorageFailed
from sumi.files.segments import RAW, TEXT, SegmentReader, SegmentWriter, place_in, place_text
from sumi.model import Lease, PageFacts, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Clock, Place
from tests.engine.world import UNPACED, Answer, Shelf, World, in_free_time, recipe_for, web_of


class Bucket:
    """An object store that cannot be written for some time."""

    address = "s3://bucket/docs"

    def __init__(self, clock: Clock, cut_off: float) -> None:
        self.objects: dict[str, bytes] = {}
        self._clock = clock
        self._back_at = clock.now() + cut_off

    async def put(self, name: str, data: bytes) -> None:
        await self._clock.sleep_until(self._clock.now() + 0.2)
        if self._clock.now() < self._back_at:
            raise StorageFailed(f"{self.address} cannot be written: no answer")
        self.objects[name] = data

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes | None:
        data = self.objects.get(name)
        return data if data is None or length is None else data[start : start + length]


class SegmentShelf(Shelf):
    """``unreadable``: pages that had an ending before anybody could read them."""

    def __init__(self, clock: Clock, bucket: Bucket, segments: SegmentWriter) -> None:
        super().__init__(clock)
        self.places: dict[str, Place] = {}
        self.unreadable: list[str] = []
        self._bucket = bucket
        self._segments = segments

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        facts = await super().accept(lease, response, digest)
        place = self.places[lease.url] = self._segments.add(TEXT, f"the text of {lease.url}".encode())
        raw_at = self._segments.add(RAW, response.body)
        return msgspec.structs.replace(facts, path=place_text(place), raw_at=raw_at)

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        await super().settled(lease, verdict, at, facts)
        for place in (place_in(facts.path), facts.raw_at):
            if place is not None and place[0] not in self._bucket.objects:
                self.unreadable.append(lease.url)


class StoredWorld(World):
    def cut_off_for(self, seconds: float) -> "StoredWorld":
        self.bucket = Bucket(self.clock, seconds)
        self.segments = SegmentWriter(self.bucket, self.events.append)
        self.shelf = SegmentShelf(self.clock, self.bucket, self.segments)
        self.io = dataclasses.replace(self.io, output=self.shelf, segments=self.segments)
        return self


PAGES = [f"http://site.test/{number}" for number in range(3 * MOST_HELD)]
SITE = web_of({"http://site.test/": Answer(links=tuple(PAGES)), **dict.fromkeys(PAGES, Answer())})


def crawled_in_segments(cut_off: float = 0.0) -> StoredWorld:
    async def run() -> StoredWorld:
        recipe = recipe_for(["http://site.test/"], pacing=UNPACED, max_pages=0)
        world = StoredWorld(SITE, recipe).cut_off_for(cut_off)
        await world.crawl()
        await world.segments.aclose()
        return world

    return in_free_time(run())


def test_no_page_has_an_outcome_before_its_content_is_there() -> None:
    world = crawled_in_segments()
    assert world.stats.outcomes[Outcome.CAPTURED] == len(PAGES) + 1
    assert not world.shelf.unreadable
    reader = SegmentReader(world.bucket)
    for url, place in world.shelf.places.items():
        assert reader.body(place) == f"the text of {url}".encode()


def test_pages_that_wait_for_their_segment_do_not_slow_requests_down() -> None:
    world = crawled_in_segments()
    assert world.shelf.most_held > 10 * world.recipe.concurrency
    assert len(world.bucket.objects) < 20
    assert world.fetcher.most_at_once <= world.recipe.concurrency


def test_while_the_store_cannot_be_written_leasing_stops_and_goes_on_afterwards() -> None:
    world = crawled_in_segments(cut_off=600.0)
    assert world.shelf.most_held <= MOST_HELD + 2 * world.recipe.concurrency
    back = world.started + 600.0
    # The links of the first page are not known before it is settled.
    assert [exchange.url for exchange in world.log if exchange.sent < back] == ["http://site.test/"]
    assert world.stats.outcomes[Outcome.CAPTURED] == len(PAGES) + 1
    assert not world.shelf.unreadable
    assert len(world.log) == len(PAGES) + 1
    assert world.warnings == [
        "s3://bucket/docs cannot be written: no answer; pages wait in flight until it can be"
    ]


def test_a_store_that_fails_in_the_middle_holds_up_a_limited_number_of_pages() -> None:
    async def run() -> StoredWorld:
        recipe = recipe_for(PAGES, pacing=UNPACED, max_pages=0)
        world = StoredWorld(SITE, recipe).cut_off_for(600.0)
        await world.crawl()
        await world.segments.aclose()
        return world

    world = in_free_time(run())
    before = [exchange for exchange in world.log if exchange.sent < world.started + 600.0]
    assert MOST_HELD <= len(before) <= MOST_HELD + world.recipe.concurrency
    assert world.stats.outcomes[Outcome.CAPTURED] == len(PAGES)
    assert len(world.log) == len(PAGES)


def test_a_slow_crawl_does_not_wait_for_a_segment_to_fill(tmp_path: Path) -> None:
    """The next link is known only once its page is settled, and nothing else is under way."""

    async def run() -> StoredWorld:
        chain = {f"http://site.test/{n}": Answer(links=(f"http://site.test/{n + 1}",)) for n in range(50)}
        recipe = recipe_for(["http://site.test/0"], pacing=UNPACED)
        world = StoredWorld(web_of(chain, Answer(404)), recipe).cut_off_for(0.0)
        await world.crawl()
        return world

    world = in_free_time(run())
    assert world.stats.outcomes[Outcome.CAPTURED] == 50
    assert world.clock_stopped_at - world.started < 50 * (0.05 + 0.2 + 0.1)
