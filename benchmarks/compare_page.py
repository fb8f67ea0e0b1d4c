"""The comparison as a table, as JSON, and as a page of the documentation."""

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.compare_targets import target_lines, wins
from benchmarks.competition import Standing
from benchmarks.growth import Size, drawn
from benchmarks.peers.resuming import Resumed
from benchmarks.real_site import RealSite

RESULTS: Final = Path(__file__).parent / "results"
TITLES: Final = {
    "mirror": "A site to Markdown",
    "archive": "Raw pages and links, archived",
    "links": "The link graph of a computed web",
}
INTRODUCTION: Final = """\
# Benchmarks

Written by `make bench` from one run; read ratios, not seconds, and ignore what differs by less than a third.
How it is measured, and how to repeat it: [benchmarks/README.md](../benchmarks/README.md)."""
NOTES: Final = """\
**pages/s**, **CPU** (user and system, of all its processes) and **x** are medians over the rounds; **x** is
Sumi's pages a second divided by the contender's, round by round: above 1, Sumi is faster. **Memory** is the
most that was resident, summed over all processes (RSS: what they share counts in each). **Pages** is the
least that was found of those that the site has. *cut* marks a run that was ended because its time was up;
its pages until then are counted. The bare loop is no crawler: it is given the URLs and does with Sumi's
libraries the least that could be called the job."""
JOB_NOTES: Final = {
    "mirror": "Sumi's state, files and manifest survive a kill; what the others do here does not.",
    "archive": (
        "Sumi is `sumi run --unified`: bodies by content, packed, with index, metadata and a frontier, all "
        "durable. wget2 has no DOM, no database and no compression. HTTrack is run with one connection: with "
        "several it waited most of the time. spider-rs is its old Node binding, not the native crate."
    ),
    "links": (
        "No network and no parsing on either side. Sumi is `benchmarks.terrain`: pages, links, distances, "
        "states and a queue that survives, in SQLite. Scrapy writes pages and edges; nothing else survives."
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
    standings: dict[str, list[Standing]]
    served: float  # requests a second of wrk; 0 without it
    resumed: list[Resumed]
    million: Resumed | None
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
        "standings": standings,
        "wrk": found.served,
        "resumed": [each._asdict() for each in found.resumed],
        "million": found.million._asdict() if found.million else None,
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
    size = "a **quick** run, in which starting up weighs heavily" if found.quick else "a full run"
    return (
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, {size}: {found.machine}; {len(site.paths):,} pages, "
        f"{site.megabytes:.0f} MB, of {sources}, from Debian's packages, with {site.missing} links that lead "
        f"nowhere; {found.server} on loopback; rounds: {found.rounds}, interleaved, at most "
        f"{found.limit_seconds:.0f} s a run; 16 requests at once, robots.txt off for all. Load average "
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
    if found.million is not None:
        each = found.million
        lines += [
            "",
            (
                f"Sumi with 1,000,000 known URLs: first page {each.first_page_s:.1f} s after the start "
                f"(wanted: under 3), {each.peak_mb:.0f} MB until then; `sumi status` "
                f"{each.status_s:.1f} s (wanted: under 1)."
            ),
        ]
    return "\n".join(lines)


def _resume_row(each: Resumed) -> str:
    stopped = "had to be killed" if each.killed else f"{each.stopped_s:.1f}"
    return (
        f"| {each.name} | {each.done:,} | {each.prepared_s:.0f} | {stopped} | {each.first_page_s:.1f} "
        f"| {each.peak_mb:.0f} | {each.trouble} |"
    )


def _growth_section(found: Comparison) -> str:
    drawings = [drawn(backend, sizes) for backend, sizes in found.growth.items()]
    return "```text\n" + "\n\n".join(drawings) + "\n```"
