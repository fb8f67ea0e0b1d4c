"""How much of each domain a map has covered.

*Explored* is a promise: every URL found on the domain was requested and has a final answer (a page, a
redirect, something other than HTML, or a dead link), and at least one is a page. If anything is pending, over
a limit, failed or denied, the description says how much was read and why not all of it. A domain of one page
without a followed link is not explored either: its links may need JavaScript.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import apsw
import msgspec

from sumi.outcomes import BY_ENDING, Ending, Outcome

# One row per domain, state, outcome and depth; all counts of pages are sums of these. A page's depth is the
# smallest over all quality domains. The outcome comes from the crawl's own table, whose ids begin at 0.
_PAGE_GROUPS: Final = """
    WITH nearest AS MATERIALIZED (SELECT page_id, min(depth) AS depth FROM page_depths GROUP BY page_id)
    SELECT domain, pages.state, outcome, nearest.depth, count(*)
    FROM pages JOIN urls ON urls.id = pages.id - 1 LEFT JOIN nearest ON nearest.page_id = pages.id
    GROUP BY domain, pages.state, outcome, nearest.depth
"""
# Which of these domains have a page with a followed link. A link's id begins with that of its page, so no
# index is needed.
_LINKING: Final = """
    SELECT DISTINCT source.domain
    FROM pages AS source JOIN urls ON urls.id = source.id - 1
        CROSS JOIN links ON links.id BETWEEN source.id << 32 AND source.id << 32 | 4294967295
        CROSS JOIN pages AS target ON target.id = to_page_id
    WHERE source.domain IN (SELECT value FROM json_each(?1))
        AND source.state = 'Processed' AND outcome <> 'redirected' AND target.id <> source.id
        AND target.state NOT IN ('Blacklisted', 'Stubbed', 'DepthExceeded')
"""
_REQUESTS: Final = "SELECT domain, request_count FROM domain_states"
_WHY_UNREACHABLE: Final = """
    SELECT domain, min(error_message) FROM pages WHERE state = 'Unreachable' GROUP BY domain
"""

_PASSED_OVER: Final = BY_ENDING[Ending.PASSED_OVER]

MOST_NAMED: Final = 10  # domains in the notes of a summary


class PageGroup(msgspec.Struct, frozen=True):
    """Pages of one domain with the same state, outcome and depth."""

    domain: str
    state: str
    outcome: str | None
    depth: int | None
    count: int

    @property
    def read(self) -> int:
        """How many of them are pages that were read; redirects do not count."""
        return self.count if self.state == "Processed" and self.outcome != Outcome.REDIRECTED else 0


class Coverage(msgspec.Struct, frozen=True):
    """Counts of one domain's URLs, which add up to all of them."""

    read: int = 0
    waiting: int = 0
    limited: int = 0  # over the request limit of a run
    rate_limited: int = 0  # the domain answered 429
    denied: int = 0  # by robots.txt
    passed_over: int = 0  # by another rule, such as a URL trap
    failed: int = 0
    unreachable: int = 0
    no_page: int = 0  # dead links, redirects, content other than HTML: final answers
    requests: int = 0  # in the last run
    why_unreachable: str = ""
    lone: bool = False  # one page, without a followed link

    @property
    def missing(self) -> int:
        barred = self.limited + self.rate_limited + self.denied + self.passed_over
        return self.waiting + barred + self.failed + self.unreachable

    @property
    def explored(self) -> bool:
        return self.read > 0 and not self.missing and not self.lone

    @property
    def dead(self) -> bool:
        """No request to the domain was answered."""
        return self.unreachable > 0 and self.unreachable == self.missing and not self.read + self.no_page

    @property
    def description(self) -> str:
        """``explored, 23 pages``, ``6 of 23 pages, limit of 12 requests reached``, ``dead: ...``"""
        if self.explored:
            return f"explored, {_pages(self.read)}"
        if self.dead:
            return f"dead: {self.why_unreachable or 'no answer'}"
        if self.lone and not self.missing:
            return "1 page, without a followed link"
        if not self.missing:
            return "no page: everything requested is a dead link, a redirect or not HTML"
        found = f"{self.read:,} of {_pages(self.read + self.missing)}"
        return ", ".join([found, *self._reasons()])

    def _reasons(self) -> Iterator[str]:
        if self.limited:
            yield f"limit of {self.requests:,} requests reached"
        if self.rate_limited:
            yield "it answered 429"
        for count, words in (
            (self.denied, "denied by robots.txt"),
            (self.passed_over, "passed over"),
            (self.unreachable, "unreachable"),
            (self.failed, "failed"),
            (self.waiting, "waiting"),
        ):
            if count:
                yield f"{count:,} {words}"


# What each state of a page counts as. Only the outcome tells robots.txt from other failures.
_COUNTED_AS: Final = {
    "Queued": "waiting",
    "RequestLimitHit": "limited",
    "RateLimited": "rate_limited",
    "Unreachable": "unreachable",
    "Failed": "failed",
    # Never on a quality domain, whose pages are all at depth 0.
    "DepthExceeded": "no_page",
}


def page_groups(db: apsw.Connection) -> list[PageGroup]:
    return [PageGroup(*row) for row in db.execute(_PAGE_GROUPS)]


def quality_coverage(db: apsw.Connection, groups: Iterable[PageGroup]) -> dict[str, Coverage]:
    """For every quality domain, sorted by name. Their pages are exactly those at depth 0."""
    counts: dict[str, Counter[str]] = {}
    chosen: set[str] = set()
    for group in groups:
        if group.state not in ("Blacklisted", "Stubbed"):
            counts.setdefault(group.domain, Counter())[_kind(group)] += group.count
            chosen |= {group.domain} if group.depth == 0 else set()
    requests: dict[str, int] = dict(db.execute(_REQUESTS))
    why: dict[str, str | None] = dict(db.execute(_WHY_UNREACHABLE))
    lone = _lone(db, [domain for domain in chosen if counts[domain]["read"] == 1])
    return {
        domain: Coverage(
            **counts[domain],
            requests=requests.get(domain, 0),
            why_unreachable=_reason(why.get(domain) or ""),
            lone=domain in lone,
        )
        for domain in sorted(chosen)
    }


def _lone(db: apsw.Connection, domains: list[str]) -> set[str]:
    return set(domains).difference(name for (name,) in db.execute(_LINKING, (json.dumps(domains),)))


def coverage_notes(coverage: Mapping[str, Coverage]) -> tuple[str, ...]:
    """Notes for a summary: all quality domains if they are few, else those that are not explored."""
    shown = coverage
    if len(coverage) > MOST_NAMED:
        shown = {domain: one for domain, one in coverage.items() if not one.explored}
    lines = [f"{domain}: {one.description}" for domain, one in list(shown.items())[:MOST_NAMED]]
    if len(coverage) > MOST_NAMED:
        lines.append(how_many_explored(coverage.values()))
    return tuple(lines)


def read_coverage(database: Path) -> dict[str, Coverage]:
    """From what is committed; a run may be in progress."""
    db = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return quality_coverage(db, page_groups(db))
    finally:
        db.close()


def how_many_explored(coverage: Iterable[Coverage]) -> str:
    explored = [one.explored for one in coverage]
    return f"{sum(explored):,} of {len(explored):,} quality domains explored"


def _kind(group: PageGroup) -> str:
    if group.read:
        return "read"
    if group.outcome == Outcome.ROBOTS_DENIED:
        return "denied"
    if group.outcome == Outcome.BAD_URL:  # a typing error that cannot be requested
        return "no_page"
    if group.state == "Failed" and group.outcome in _PASSED_OVER:
        return "passed_over"
    return _COUNTED_AS.get(group.state, "no_page")


def _reason(rule: str) -> str:
    """Why the robots.txt of a host could not be fetched."""
    return rule.rpartition("): ")[2]


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"
