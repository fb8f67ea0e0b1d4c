"""``sumi capture show``: one job, its pages with their other URLs, and what failed."""

import sys
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.jobs.capture.named_job import add_job, add_store, capture_folder, chosen_job, moment

if TYPE_CHECKING:
    from sumi.jobs.capture.database import CaptureDatabase
    from sumi.jobs.capture.rows import CaptureJob

_EXAMPLES = """\
examples:
  sumi capture show                       the last job
  sumi capture show 20260301-1200 --json  the job, then a line per page and per failure
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi capture show",
        usage="sumi capture show [options] [JOB]",
        description="How a job stands, its pages with all their URLs, near-duplicates, and what failed.",
        epilog=_EXAMPLES,
    )
    add_job(parser, otherwise="the last one")
    add_store(parser)
    parser.add_argument("--json", action="store_true", help="JSON: the job, its pages, groups, failures.")
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    folder = capture_folder(options)
    out = Sink(sys.stdout)
    with folder.looking() as database:
        job = chosen_job(folder, database, options.job)
        for line in _as_json(database, job) if options.json else _as_text(database, job):
            out.line(line)
    return 0


def _as_json(database: "CaptureDatabase", job: "CaptureJob") -> Iterator[str]:
    yield msgspec.json.encode({"kind": "job", **msgspec.structs.asdict(job)}).decode()
    for page in database.pages(job.id):
        alternates = {"alternate_urls": database.alternates(job.id, page)}
        row = {"kind": "page", **msgspec.structs.asdict(page), **alternates}
        del row["asked_with"]  # for the cache alone, and made from what may be a password
        yield msgspec.json.encode(row).decode()
    for urls in _nearly_the_same(database, job):
        yield msgspec.json.encode({"kind": "near_duplicates", "urls": urls}).decode()
    for failure in database.failures(job.id):
        yield msgspec.json.encode({"kind": "failure", **msgspec.structs.asdict(failure)}).decode()


def _as_text(database: "CaptureDatabase", job: "CaptureJob") -> Iterator[str]:
    counts = database.count_by_base(job.id)
    levels = database.count_by_level(job.id)
    yield f"job       {job.id}"
    yield f"status    {job.status}"
    yield f"begun     {moment(job.started)}, ended {moment(job.ended)}"
    waiting = f"{job.queue_size:,} waiting"
    yield f"pages     {job.pages_processed:,} captured, {job.pages_failed:,} failed, {waiting}"
    yield f"cache     {', '.join(f'{count:,} {level}' for level, count in levels.items()) or '-'}"
    for number, base in enumerate(job.base_urls):
        yield f"base      {printable(base)}: {counts.get(number, 0):,} pages"
    yield ""
    for page in database.pages(job.id):
        yield f"{printable(page.url)}  {printable(page.title or '')}".rstrip()
        for url in database.alternates(job.id, page)[1:]:
            yield f"  also at {printable(url)}"
    for urls in _nearly_the_same(database, job):
        yield "nearly the same text:"
        yield from (f"  {printable(url)}" for url in urls)
    for failure in database.failures(job.id):
        yield f"failed: {printable(failure.url)}: {printable(failure.error)}"


def _nearly_the_same(database: "CaptureDatabase", job: "CaptureJob") -> Iterator[list[str]]:
    """Pages whose texts differ in a few words, group by group. All of them are kept."""
    from sumi.engine.summary import near_duplicates

    hashes = database.simhashes(job.id)
    for group in near_duplicates(array("Q", (simhash for _, simhash in hashes))):
        yield [hashes[place][0] for place in group]
