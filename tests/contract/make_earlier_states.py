"""``python -m tests.contract.make_earlier_states``: a small state of every kind, made by the current code.

What it makes is kept in ``earlier_states`` and opened by ``test_earlier_states``. Run it when a format gets a
new version, before the code that writes the old one goes; what is there already stays.
"""

import asyncio
import tarfile
import tempfile
from pathlib import Path

from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.rows import CacheLevel, CapturedPage, CaptureJob, FailedPage, JobStatus
from sumi.model import Candidate, Hop, Kind, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Deferral, HostReport, Judged, RobotsRecord, Settlement
from tests.contract.backends import STATES, Store, nothing_to_sync

FOLDER = Path(__file__).with_name("earlier_states")
POLICY = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=9))
CAPTURES = "captures.sqlite"


def url(name: str) -> str:
    return f"https://a.test/{name}"


def found(name: str, depth: int = 1, refusal: Outcome | None = None) -> Judged:
    verdict = None if refusal is None else Verdict(refusal, "a rule")
    return Judged(Candidate(url(name), Hop.LINK, Kind.PAGE, depth, url("")), verdict)


async def fill(store: Store) -> None:
    """A page of every state: done, failed for good, put off, waiting, leased, refused."""
    await store.put_note("made by", "the version before")
    await store.put_robots(RobotsRecord("https://a.test", 200, b"User-agent: *\nDisallow: /private", 1.0))
    await store.add([found("", 0), found("gone"), found("later")])
    home, gone, later = await store.lease(9, 1.0)
    for lease in (home, gone, later):
        await store.release_host(lease, HostReport(reached=1.0, latency=0.1))
    facts = PageFacts(status=200, title="Home", path="a.test/index.md", etag='"1"')
    findings = (found("waiting", 2), found("leased"), found("deep", 9, Outcome.TOO_DEEP))
    await store.settle(
        [
            Settlement(home, Verdict(Outcome.CAPTURED, "HTTP 200"), 2.0, facts, findings),
            Settlement(gone, Verdict(Outcome.NOT_FOUND, "HTTP 404"), 3.0),
            Deferral(later, 4.0, 60.0, Verdict(Outcome.SERVER_ERROR, "HTTP 500")),
        ]
    )
    await store.lease(1, 5.0)
    await store.hold_host("b.test", 100.0, "told to")
    await store.sync(nothing_to_sync)


def fill_captures(database: CaptureDatabase) -> None:
    database.put_job(CaptureJob("20260101-000000-abcd", (url(""),), JobStatus.COMPLETED, 1.0, "{}"))
    page = CapturedPage(
        url=url(""),
        address=url(""),
        text_sha256="0" * 64,
        body_sha256=None,
        title="Home",
        base=0,
        depth=0,
        status=200,
        content_type="text/html",
        etag='"1"',
        last_modified=None,
        rendered=None,
        fresh_for=None,
        cached=CacheLevel.MISS,
        fetched_at=2.0,
        vary_key="",
    )
    database.put_page("20260101-000000-abcd", page)
    database.put_failure("20260101-000000-abcd", FailedPage(url("gone"), "HTTP 404", 3.0))


async def make(kind: str, folder: Path) -> None:
    if kind == "captures":
        database = CaptureDatabase(folder / CAPTURES)
        fill_captures(database)
        database.close()
        return
    store = STATES[kind](folder, POLICY, 0.0)
    await fill(store)
    await store.aclose()


def main() -> None:
    for kind in (*STATES, "captures"):
        archive = FOLDER / f"{kind}.tar.gz"
        if archive.exists():
            continue
        with tempfile.TemporaryDirectory() as made:
            asyncio.run(make(kind, Path(made)))
            (Path(made) / "lock").unlink(missing_ok=True)
            with tarfile.open(archive, "w:gz") as tar:
                for path in sorted(Path(made).iterdir()):
                    if not path.name.endswith("lock"):
                        tar.add(path, path.name)
        print(archive, archive.stat().st_size)


if __name__ == "__main__":
    main()
