"""The comparison as a table, as JSON, and as a page of the documentation."""

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.compare_targets import target_lines, wins
from benchmarks.competition import Standing
from benchmarks.growth import Size, drawn
from benchmarks.peers.contenders import FEW_PAGES
from benchmarks.peers.resuming import Resumed
from benchmarks.real_site import RealSite

RESULTS: Final = Path(__file__).parent / "results"
TITLES: Final = {
    "mirror": "A site to Markdown",
    f"mirror{FEW_PAGES}": "A site to Markdown, few pages",
    "archive": "Raw pages and links, archived",
    f"archive{FEW_PAGES}": "Raw pages and links, archived, few pages",
    "links": "The link graph of a computed web",
}
INTRODUCTION: Final = """\
# Benchmarks

Written by `make bench` from one run; read ratios, not seconds, and ignore what differs by less than a third.
How it is measured, and how to repeat it: [benchmarks/README.md](../benchmarks/README.md)."""
NOTES: Final = """\
**pages/s**, **CPU** (user and system, of all its processes) and **x** are medians over the rounds; **x** is
Sumi's pages a second divided by the contender's, round by round: above 1, Sumi is faster. **Memory** is the
most that was in use at once, summed over all processes as their proportional set size: what several share,
as libraries, counts once, and what is shared with other programs that run counts in part. (Where the kernel
does not tell it, it is the resident size, which counts that in each.) **Pages** is the least that was found
of those that the site has. Who takes longer than the limit runs in one round only, to the end of the site.
*cut* marks a run that was ended because its time was up: what counts is the time until it last wrote
something, and the pages it had, which may be easier or harder than the rest.

**tuned** means: made faster than its documentation shows. Scrapy and Crawlee (Python) without that word are
as documented, but for sixteen requests at once, no delay and no robots.txt, as for all. **The bare loop** is
no crawler but a reference: with Sumi's libraries it fetches, parses, finds links, hashes, packs and stores
each page in SQLite, and promises nothing. One process finds the pages itself; two are given the list of them,
so that they need not talk to each other, which is an advantage that no crawler has."""
FEW_NOTE: Final = (
    "A small site that these get through, or can read all of, and that Sumi gets with them: so they meet the "
    "same pages. On other pages the ratios are others, and starting up weighs more here."
)
QUICK: Final = (
    "a **quick** run, in which starting up weighs heavily and the small site is the only one, which "
    "not all peers finish"
)
JOB_NOTES: Final = {
    "mirror": (
        "Sumi's state, pages as they came, files and manifest survive a kill; what the others do here does "
        "not. Crawlee has its default storage, a queue in files; tuned, its queue is in memory and nothing "
        "is on disk but the pages."
    ),
    f"mirror{FEW_PAGES}": FEW_NOTE,
    "archive": (
        "Sumi is `sumi run --unified`: bodies by content, packed, with index, metadata and a frontier, all "
        "durable. Scrapy without a further word is as in its tutorial: links by CSS, `response.follow`, its "
        "own filter. Crawlee for Python has its queue in files, Crawlee for JavaScript in memory. wget2 has "
        "no DOM, no database and no compression, and leaves character references in links as they are."
    ),
    f"archive{FEW_PAGES}": (
        f"{FEW_NOTE} HTTrack is run with one connection: with several it waited most of the time. spider-rs "
        "is its old Node binding, not the native crate; of the whole site it found about half, and in some "
        "runs it does not end."
    ),
    "links": (
        "No network and no parsing on either side. Sumi is `benchmarks.map`: pages, links, distances, "
        "states and a queue that survives, in SQLite. Scrapy writes pages and edges; nothing else survives. "
        "All pages are alike."
    ),
}


class Comparison(NamedTuple):
    machine: str
    quick: bool
    rounds: int
    limit_seconds: float
    loads: tuple[str, str]  # before and after
    server: str
    site: RealSite
    few: RealSite
    standings: dict[str, list[Standing]]
    served: float  # requests a second of wrk; 0 without it
    resumed: list[Resumed]
    million: list[Resumed]
    growth: dict[str, list[Size]]
    help_seconds: float


def write_results(found: Comparison, page: Path | None) -> None:
    RESULTS.mkdir(exist_ok=True)
    text = "\n\n".join(_sections(found)) + "\n"
    print(text)
    (RESULTS / "peers.md").write_text(text)
    (RESULTS / "peers.json").write_text(json.dumps(_facts(found), indent=2) + "\n")
    if page is not None:
        page.write_text(text)


def _facts(found: Comparison) -> dict[str, object]:
    standings = {
        job: {
            each.name: [
                {"pages": run.pages, "strange": run.strange, **run.cost._asdict()} for run in each.runs
            ]
            for each in all_of
        }
        for job, all_of in found.standings.items()
    }
    return {
        "machine": found.machine,
        "loads": found.loads,
        "pages": len(found.site.paths),
        "few_pages": len(found.few.paths),
        "standings": standings,
        "wrk": found.served,
        "resumed": [each._asdict() for each in found.resumed],
        "million": [each._asdict() for each in found.million],
        "growth": {name: [size._asdict() for size in sizes] for name, sizes in found.growth.items()},
        "help_seconds": found.help_seconds,
    }


def _sections(found: Comparison) -> list[str]:
    parts = [INTRODUCTION, _on_what(found), NOTES]
    for job, all_of in found.standings.items():
        parts += [f"## {TITLES[job]}", JOB_NOTES[job], standing_table(all_of)]
    if found.served:
        parts.append(f"The server's own limit, by `wrk` on the same URLs: {found.served:,.0f} requests/s.")
    if found.resumed:
        parts += ["## Going on with a crawl", _resume_section(found)]
    if found.growth:
        parts += ["## From a thousand known URLs to a million", _growth_section(found)]
    if found.standings:
        ahead = wins(found.standings) or ["Nowhere in this run."]
        parts += [
            "## Where others win",
            "\n".join(ahead),
            "## Targets",
            "\n".join(target_lines(found.standings)),
        ]
    parts.append(f"`sumi --help`: {1000 * found.help_seconds:.0f} ms (wanted: under 150).")
    return parts


def _on_what(found: Comparison) -> str:
    site = found.site
    sources = ", ".join(f"{source.name} ({source.generator})" for source in site.sources)
    small = ", ".join(source.name for source in found.few.sources)
    size = QUICK if found.quick else "a full run"
    return (
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, {size}: {found.machine}; {len(site.paths):,} pages, "
        f"{site.megabytes:.0f} MB, of {sources}, from Debian's packages, with {site.missing} links that lead "
        f"nowhere; the small site has {len(found.few.paths):,} pages, {found.few.megabytes:.0f} MB, of "
        f"{small}; {found.server} on loopback; rounds: {found.rounds}, interleaved, one for who takes more "
        f"than {found.limit_seconds:.0f} s; 16 requests at once, robots.txt off for all. Load average "
        f"before: {found.loads[0]}, after: {found.loads[1]} (over 1, 5 and 15 minutes): what is far above 2 "
        "means that others used the machine too."
    )


def standing_table(standings: Sequence[Standing]) -> str:
    lines = [
        "| | pages/s | CPU ms/page | memory MB | pages | x | versions |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    return "\n".join([*lines, *(_row(each) for each in standings)])


def _row(each: Standing) -> str:
    if not each.runs:
        return f"| {each.name} | – | – | – | – | – | not run: {each.trouble} |"
    cut = " *cut*" if each.cut else ""
    figures = (
        f"{each.rate:.0f} | {each.cpu_ms:.2f} | {each.peak_mb:.0f} | {each.pages:,}{cut} | {each.ratio:.2f}"
    )
    remark = f"; a run is missing: {each.trouble}" if each.trouble else ""
    return f"| {each.name} | {figures} | {each.versions}{remark} |"


def _resume_section(found: Comparison) -> str:
    lines = [
        "Interrupted (SIGINT) when enough was done or the time was up; then the same command again.",
        "",
        "| | done before | that took s | stopped in s | first page after s | memory MB | |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
        *(_resume_row(each) for each in found.resumed),
    ]
    if found.million:
        wanted = "(wanted: a page within 3 s, `sumi status` within 1, less than 300 MB)"
        lines += ["", f"With 1,000,000 known URLs {wanted}:", "", *map(_million_line, found.million)]
    return "\n".join(lines)


def _million_line(each: Resumed) -> str:
    if each.trouble:
        return f"- {each.name}: {each.trouble}."
    return (
        f"- {each.name}: first page {each.first_page_s:.1f} s after the start, {each.peak_mb:.0f} MB until "
        f"then; `sumi status` {each.status_s:.1f} s."
    )


def _resume_row(each: Resumed) -> str:
    stopped = "had to be killed" if each.killed else f"{each.stopped_s:.1f}"
    return (
        f"| {each.name} | {each.done:,} | {each.prepared_s:.0f} | {stopped} | {each.first_page_s:.1f} "
        f"| {each.peak_mb:.0f} | {each.trouble} |"
    )


def _growth_section(found: Comparison) -> str:
    drawings = [drawn(backend, sizes) for backend, sizes in found.growth.items()]
    return "```text\n" + "\n\n".join(drawings) + "\n```"
