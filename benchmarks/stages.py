"""``python -m benchmarks.stages``: what each stage of one page costs, in one process, without a network."""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.docs_site import build_site, page_url_path
from sumi.fetch.decode import undo_codings
from sumi.files.safe_files import SafeFolder
from sumi.jobs.mirror.markdown_page import compose_page
from sumi.model import Candidate, Kind, Lease, Response, Timing
from sumi.outcomes import Outcome, Verdict
from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import page_links
from sumi.parse.page.metadata import read_metadata
from sumi.parse.page.text import charset_label
from sumi.policy import FetchLimits, FrontierPolicy, PacingPolicy, Preset
from sumi.ports import HostReport, Judged, Settlement
from sumi.state.journal import FilesStore
from sumi.urls import PRESETS, LinkNormalizer
from sumi.urls.paths import PathAllocator
from sumi.workers.framing import HEADER_BYTES, Answer, encode_frame

ORIGIN = "https://docs.example.org"
HTML = "text/html; charset=utf-8"
BATCH = 16  # pages leased and settled at once, as with the default concurrency


class Stopwatch:
    """Adds up the time between laps under the name of the lap that ends it."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._last = time.perf_counter()

    def start(self) -> None:
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] += now - self._last  # type: ignore[assignment]  # Counter is typed for ints
        self._last = now


class Stages:
    def __init__(self, folder: Path, watch: Stopwatch) -> None:
        self._watch = watch
        self._files = SafeFolder(folder / "output")
        self._paths = PathAllocator()
        policy = FrontierPolicy(PacingPolicy(delay=0.0, per_host=BATCH, slow_factor=0.0))
        (folder / "state").mkdir()
        self._store = FilesStore(folder / "state", policy, opened_at=0.0)

    async def crawl(self, bodies: dict[str, bytes]) -> None:
        await self._store.add([Judged(Candidate(url)) for url in bodies])
        self._watch.start()
        while leases := await self._store.lease(BATCH, now=1.0):
            self._watch.lap("frontier")
            units = [await self._visit(lease, bodies[lease.url]) for lease in leases]
            await self._store.settle(units)
            self._watch.lap("journal")
        await self._store.aclose()
        self._files.close()

    async def _visit(self, lease: Lease, packed: bytes) -> Settlement:
        body = undo_codings(packed, ["gzip"], FetchLimits(), None)
        assert isinstance(body, bytes)
        self._watch.lap("decode")
        await self._store.release_host(lease, HostReport(reached=1.0, latency=0.0))
        self._watch.lap("frontier")
        digest = self._digest(lease.url, body)
        self._hand_over(DigestRequest(lease.url, body, HTML, Kind.PAGE, Preset.MIRROR, True), digest)
        fresh = await self._store.unseen(digest.links, 1, lease.candidate.hop)
        self._watch.lap("frontier")
        return self._write(lease, body, digest, tuple(Judged(Candidate(url, depth=1)) for url in fresh))

    def _digest(self, url: str, body: bytes) -> PageDigest:
        document = parse_html(body, charset_label(HTML, body))
        self._watch.lap("parse")
        facts = read_metadata(document)
        self._watch.lap("metadata")
        links, _ = page_links(document, LinkNormalizer(PRESETS[Preset.MIRROR], url), 5000)
        self._watch.lap("links, normalized")
        markdown = page_markdown(document, url).markdown
        self._watch.lap("markdown")
        return PageDigest(links=links, title=facts.title, language=facts.language, markdown=markdown)

    def _hand_over(self, request: DigestRequest, digest: PageDigest) -> None:
        """Both ends of what a worker process adds, without the system calls."""
        for message in (request, Answer.of(digest)):
            with memoryview(encode_frame(message)) as frame:
                msgspec.msgpack.decode(frame[HEADER_BYTES:], type=type(message))
        self._watch.lap("frames to and from a worker")

    def _write(self, lease: Lease, body: bytes, digest: PageDigest, found: tuple[Judged, ...]) -> Settlement:
        path = self._paths.claim(lease.url)
        self._watch.lap("path")
        response = Response(lease.url, 200, (("content-type", HTML),), body, Timing(1.0, 1.0, 1.0))
        data, facts = compose_page(lease.url, response, digest)
        self._watch.lap("front matter, facts")
        self._files.write_atomic(path, data)
        self._watch.lap("write")
        facts = msgspec.structs.replace(facts, path=path)
        return Settlement(lease, Verdict(Outcome.CAPTURED), 1.0, facts, found)


def packed_pages(site: Path, pages: int) -> Iterator[tuple[str, bytes]]:
    for number in range(pages):
        path = page_url_path(number)
        yield ORIGIN + path, (site / f"{path.lstrip('/')}.gz").read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stages", description=__doc__)
    parser.add_argument("--pages", type=int, default=2000, help="pages of the site (default: 2000)")
    pages = parser.parse_args().pages
    bodies = dict(packed_pages(build_site(pages), pages))
    watch = Stopwatch()
    with tempfile.TemporaryDirectory(prefix="sumi-benchmark-") as folder:
        asyncio.run(Stages(Path(folder), watch).crawl(bodies))
    print(f"{pages} pages, ms per page\n")
    for name, seconds in watch.seconds.most_common():
        print(f"{name:30}{1000 * seconds / pages:8.3f}")
    print(f"{'all':30}{1000 * watch.seconds.total() / pages:8.3f}")


if __name__ == "__main__":
    main()
