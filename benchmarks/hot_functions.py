"""What runs for every page or every link, alone: ``python -m benchmarks.hot_functions NAME TIMES``.

Each is made ready first and then called as often as asked, on generated input that is the same everywhere.
"""

import asyncio
import atexit
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.docs_site import page_html
from sumi.model import Candidate, Kind, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy, Preset

ORIGIN: Final = "https://docs.example.org"
HREFS: Final = [f"../part-{n % 7}/topic-{n}.html#section-{n % 3}" for n in range(100)]
BATCH: Final = 16


def digest_to_markdown() -> Callable[[], object]:
    return _digest(markdown=True)


def digest_to_links() -> Callable[[], object]:
    return _digest(markdown=False)


def _digest(markdown: bool) -> Callable[[], object]:
    from sumi.parse.page.digest import DigestRequest
    from sumi.parse.page.digester import digest

    html = page_html(7, 200).encode()
    url = f"{ORIGIN}/guide/part-00/topic-0007.html"
    request = DigestRequest(url, html, "text/html; charset=utf-8", Kind.PAGE, Preset.MIRROR, markdown)
    return lambda: digest(request)


def normalize_links() -> Callable[[], object]:
    """A new folder each time: what is remembered of the last one does not help."""
    from sumi.urls import PRESETS, LinkNormalizer

    numbers = iter(range(1_000_000))
    return lambda: LinkNormalizer(PRESETS[Preset.MIRROR], f"{ORIGIN}/{next(numbers)}/a/").many(HREFS)


def judge_scope() -> Callable[[], object]:
    from sumi.scope import Scope

    scope = Scope(hosts=("docs.example.org",), paths=("/guide",), include=("*.html",), exclude=("*/old/*",))
    candidates = [Candidate(f"{ORIGIN}/guide/part-{n}/topic-{n}.html") for n in range(100)]
    return lambda: [scope.judge(candidate) for candidate in candidates]


def ask_robots() -> Callable[[], object]:
    from sumi.robots import parse_robots

    lines = "".join(f"Disallow: /private-{n}/*.php$\nAllow: /private-{n}/open\n" for n in range(50))
    rules = parse_robots(f"User-agent: *\n{lines}".encode()).rules_for("sumi")
    paths = [f"/guide/part-{n}/topic-{n}.html" for n in range(20)]
    return lambda: [rules.decide(path) for path in paths]


def lease_and_settle() -> Callable[[], object]:
    """Sixteen pages with a hundred links each, five of them new, through the journal."""
    from sumi.ports import HostReport, Judged, Settlement
    from sumi.state.journal import FilesStore

    pacing = PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=BATCH, slow_factor=0.0)
    folder = Path(tempfile.mkdtemp(prefix="sumi-hot-"))
    atexit.register(shutil.rmtree, folder)
    store = FilesStore(folder, FrontierPolicy(pacing), 0.0)
    loop = asyncio.new_event_loop()
    numbers = iter(range(10_000_000))
    facts = PageFacts(status=200, path="a/index.md", size=1, sha256="0" * 64, title="A page")

    def fresh(count: int) -> list[Judged]:
        return [Judged(Candidate(f"{ORIGIN}/p/{next(numbers)}", depth=1)) for _ in range(count)]

    async def batch() -> None:
        units = []
        for lease in await store.lease(BATCH, 1.0):
            await store.release_host(lease, HostReport(reached=1.0, latency=0.01))
            await store.unseen([f"{ORIGIN}/p/{n}" for n in range(95)], 1, lease.candidate.hop)
            verdict = Verdict(Outcome.CAPTURED)
            units.append(Settlement(lease, verdict, 1.0, facts, tuple(fresh(5))))
        await store.settle(units)

    loop.run_until_complete(store.add(fresh(1000)))
    return lambda: loop.run_until_complete(batch())


FUNCTIONS: Final[dict[str, Callable[[], Callable[[], object]]]] = {
    made.__name__: made
    for made in (
        digest_to_markdown,
        digest_to_links,
        normalize_links,
        judge_scope,
        ask_robots,
        lease_and_settle,
    )
}


def main() -> None:
    run = FUNCTIONS[sys.argv[1]]()
    for _ in range(int(sys.argv[2])):
        run()


if __name__ == "__main__":
    main()
