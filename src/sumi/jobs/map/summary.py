"""The summary of a map, read from its database in one pass over pages and one over depths.

Numbers are of the whole map; dates and status are of one run.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

import apsw
import msgspec

from sumi import __version__
from sumi.errors import UsageError
from sumi.jobs.map.coverage import Coverage, PageGroup, how_many_explored, page_groups, quality_coverage
from sumi.outcomes import Outcome

TOP: Final = 20

_NOT_VISITED: Final = ("Blacklisted", "Stubbed")
_FAILED: Final = ("DeadLink", "Unreachable", "RateLimited", "Failed")

# The outcome comes from the crawl's own table, whose ids begin at 0.
_ERRORS = """
    SELECT pages.state, outcome, iif(outcome = 'robots_unreachable', rule, '') AS why, count(*)
    FROM pages JOIN urls ON urls.id = pages.id - 1
    WHERE pages.state IN (?, ?, ?, ?) GROUP BY pages.state, outcome, why
"""
_RATE_LIMITED = "SELECT domain, request_count FROM domain_states WHERE rate_limited ORDER BY domain"
_TOP_URLS = "SELECT url, reference_count FROM {table} ORDER BY reference_count DESC, url LIMIT ?"

_KIND_OF_STATE: Final = {"DeadLink": "Dead Links (404)", "RateLimited": "Rate Limited (429)"}
_KIND_OF_OUTCOME: Final = {
    Outcome.CONNECT_FAILED.value: "Connection Refused",
    Outcome.TIMED_OUT.value: "Timeout",
    Outcome.ROBOTS_DENIED.value: "Robots Denied",
}
ERROR_KINDS: Final = (
    "Dead Links (404)",
    "Rate Limited (429)",
    "Connection Refused",
    "Timeout",
    "Robots Denied",
    "Other",
)


class DomainPages(msgspec.Struct, frozen=True):
    domain: str
    pages: int  # crawled
    nearest: int | None
    farthest: int | None
    coverage: Coverage | None = None  # only for quality domains


class DepthPages(msgspec.Struct, frozen=True):
    depth: int | None
    pages: int  # crawled
    new_domains: int  # whose nearest page is at this depth


class TopUrls(msgspec.Struct, frozen=True):
    rows: tuple[tuple[str, int], ...]  # URL and number of references
    total: int


class MapSummary(msgspec.Struct, frozen=True):
    run_id: int
    started_at: str
    finished_at: str | None
    status: str
    pages_crawled: int
    unique_domains: int
    links: int
    depths: tuple[DepthPages, ...]
    quality: tuple[DomainPages, ...]
    others: tuple[DomainPages, ...]
    blacklisted: TopUrls
    stubbed: TopUrls
    errors: tuple[tuple[str, int], ...]
    rate_limited: tuple[tuple[str, int], ...]  # domain and number of requests

    @property
    def error_count(self) -> int:
        return sum(count for _, count in self.errors)


def read_summary(db: apsw.Connection, run_id: int | None = None) -> MapSummary:
    """``run_id``: the last run if None."""
    run = _run_row(db, run_id)
    groups = page_groups(db)
    domains = _domains(groups, quality_coverage(db, groups))
    return MapSummary(
        *run,
        pages_crawled=sum(group.read for group in groups),
        unique_domains=len(domains),
        links=_count(db, "links"),
        depths=_depths(groups, domains),
        quality=tuple(one for one in domains if one.coverage is not None),
        others=tuple(one for one in domains if one.coverage is None),
        blacklisted=_top(db, "blacklisted_urls"),
        stubbed=_top(db, "stubbed_urls"),
        errors=_errors(db.execute(_ERRORS, _FAILED)),
        rate_limited=tuple(db.execute(_RATE_LIMITED)),
    )


def _run_row(db: apsw.Connection, run_id: int | None) -> tuple[int, str, str | None, str]:
    query = "SELECT id, started_at, finished_at, status FROM runs"
    if run_id is None:
        row = db.execute(f"{query} ORDER BY id DESC LIMIT 1").fetchone()
    else:
        row = db.execute(f"{query} WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise UsageError("the map has no run yet" if run_id is None else f"the map has no run {run_id}")
    return row  # type: ignore[no-any-return]  # the columns' types are the schema's


def _domains(groups: Iterable[PageGroup], coverage: Mapping[str, Coverage]) -> list[DomainPages]:
    """Domains whose pages may be visited, those with the most crawled pages first."""
    pages: Counter[str] = Counter()
    depths: dict[str, list[int]] = {}
    for group in groups:
        if group.state in _NOT_VISITED:
            continue
        pages[group.domain] += group.read
        depths.setdefault(group.domain, []).extend([] if group.depth is None else [group.depth])
    found = (
        DomainPages(
            domain,
            count,
            min(depths[domain], default=None),
            max(depths[domain], default=None),
            coverage.get(domain),
        )
        for domain, count in pages.items()
    )
    return sorted(found, key=lambda one: (-one.pages, one.domain))


def _depths(groups: Iterable[PageGroup], domains: Iterable[DomainPages]) -> tuple[DepthPages, ...]:
    pages: Counter[int | None] = Counter()
    for group in groups:
        pages[group.depth] += group.read
    news = Counter(one.nearest for one in domains)
    met = (depth for depth in pages.keys() | news.keys() if pages[depth] or news[depth])
    ordered = sorted(met, key=lambda depth: (depth is None, depth or 0))
    return tuple(DepthPages(depth, pages[depth], news[depth]) for depth in ordered)


def _top(db: apsw.Connection, table: str) -> TopUrls:
    return TopUrls(tuple(db.execute(_TOP_URLS.format(table=table), (TOP,))), _count(db, table))


def _count(db: apsw.Connection, table: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {table}").get)  # noqa: S608 - our own table name


def _errors(rows: Iterable[tuple[str, str | None, str, int]]) -> tuple[tuple[str, int], ...]:
    counts: Counter[str] = Counter()
    for state, outcome, why, count in rows:
        kind = (
            _KIND_OF_STATE.get(state) or _KIND_OF_OUTCOME.get(outcome or "") or _kind_of_robots_failure(why)
        )
        counts[kind] += count
    return tuple((kind, counts[kind]) for kind in ERROR_KINDS)


def _kind_of_robots_failure(why: str) -> str:
    """By the outcome that the rule names."""
    return next((_KIND_OF_OUTCOME[part] for part in why.split(": ") if part in _KIND_OF_OUTCOME), "Other")


# A map can have a million domains; the summary is for people.
LISTED_DOMAINS: Final = 50

# URLs come from pages: none may leave its table cell, start markup, or reverse the text direction.
_MARKUP = re.compile(r"([\\`*_{}\[\]|#!~])")


def summary_markdown(summary: MapSummary) -> str:
    parts = (
        _head(summary),
        _overall(summary),
        _depth_table(summary.depths),
        _domain_lists(summary),
        _top_table("Top Blacklisted URLs", summary.blacklisted),
        _top_table("Top Stubbed URLs", summary.stubbed),
        _error_lines(summary),
        [f"*Generated by Sumi v{__version__}*"],
    )
    return "\n\n---\n\n".join("\n".join(part) for part in parts) + "\n"


def _head(summary: MapSummary) -> Iterator[str]:
    yield "# Sumi Crawl Summary"
    yield ""
    # Two spaces at the end are a line break.
    yield f"**Run ID:** {summary.run_id}  "
    yield f"**Started:** {_plain(summary.started_at)}  "
    yield f"**Finished:** {_plain(summary.finished_at or 'not yet')}  "
    yield f"**Duration:** {_duration(summary.started_at, summary.finished_at)}  "
    coverage = [one.coverage for one in summary.quality if one.coverage is not None]
    yield f"**Coverage:** {how_many_explored(coverage)}  "
    yield f"**Status:** {_plain(summary.status).capitalize()}"


def _overall(summary: MapSummary) -> Iterator[str]:
    rows = (
        ("Pages Crawled", summary.pages_crawled),
        ("Unique Domains Discovered", summary.unique_domains),
        ("Total Links Recorded", summary.links),
        ("Blacklisted URLs Found", summary.blacklisted.total),
        ("Stubbed URLs Found", summary.stubbed.total),
        ("Errors Encountered", summary.error_count),
    )
    yield from ("## Overall Statistics", "", "| Metric | Count |", "| --- | ---: |")
    yield from (f"| {name} | {count:,} |" for name, count in rows)


def _depth_table(depths: Iterable[DepthPages]) -> Iterator[str]:
    yield from ("## Depth Breakdown", "", "| Depth | Pages | New Domains |", "| --- | ---: | ---: |")
    for row in depths:
        name = "unknown" if row.depth is None else f"{row.depth} (Quality)" if row.depth == 0 else row.depth
        yield f"| {name} | {row.pages:,} | {row.new_domains:,} |"


def _domain_lists(summary: MapSummary) -> Iterator[str]:
    yield from ("## Discovered Domains", "", "### Quality Domains", "")
    yield from _listed(summary.quality, lambda one: f"{_plain(one.domain)} ({_coverage(one)})")
    yield from ("", "### Other Domains", "")
    yield from _listed(
        summary.others, lambda one: f"{_plain(one.domain)} ({_pages(one.pages)}, {_depth_range(one)})"
    )


def _listed(domains: tuple[DomainPages, ...], words: Callable[[DomainPages], str]) -> Iterator[str]:
    yield from (f"- {words(one)}" for one in domains[:LISTED_DOMAINS])
    if len(domains) > LISTED_DOMAINS:
        yield f"- ... ({len(domains) - LISTED_DOMAINS:,} more domains)"
    if not domains:
        yield "None."


def _top_table(title: str, top: TopUrls) -> Iterator[str]:
    yield from (f"## {title}", "")
    if not top.rows:
        yield "None."
        return
    yield from ("| URL | Reference Count |", "| --- | ---: |")
    yield from (f"| {_plain(url)} | {count:,} |" for url, count in top.rows)
    yield from ("", f"*(Showing top {len(top.rows)} of {top.total:,})*")


def _error_lines(summary: MapSummary) -> Iterator[str]:
    yield from ("## Error Summary", "", "| Error Type | Count |", "| --- | ---: |")
    yield from (f"| {kind} | {count:,} |" for kind, count in summary.errors)
    yield from ("", "### Rate-Limited Domains", "")
    yield from (f"- {_plain(domain)} (request #{count:,})" for domain, count in summary.rate_limited)
    if not summary.rate_limited:
        yield "None."


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"


def _coverage(one: DomainPages) -> str:
    return _plain(one.coverage.description) if one.coverage is not None else _pages(one.pages)


def _depth_range(one: DomainPages) -> str:
    if one.nearest is None:
        return "depth unknown"
    return f"depth {one.nearest}" if one.nearest == one.farthest else f"depth {one.nearest}-{one.farthest}"


def _duration(started: str, finished: str | None) -> str:
    """``4h 15m 23s``, without leading zeros."""
    try:
        seconds = (datetime.fromisoformat(finished or "") - datetime.fromisoformat(started)).total_seconds()
    except (ValueError, TypeError):  # the run has not ended, or another program wrote the date
        return "unknown"
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    parts = (f"{hours}h" if hours else "", f"{minutes}m" if whole >= 60 else "", f"{whole % 60}s")
    return " ".join(filter(None, parts))


def _plain(text: str) -> str:
    visible = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    return html.escape(_MARKUP.sub(r"\\\1", visible), quote=False)
