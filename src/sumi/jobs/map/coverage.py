"""How much of a domain a map has seen, and in which words it says so.

*Explored* is a promise: every address that was found on the domain was asked for and has answered for good,
as a page that was read, a redirect, something else than HTML, or a dead link; and at least one was a page.
Where anything waits, is over a limit, failed or was denied, the words say how much is there and why not all.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import apsw
import msgspec

from sumi.outcomes import BY_ENDING, Ending, Outcome

# One row per domain, state, outcome and depth: everything about pages is added up from these. The depth of a
# page is its smallest, over all quality domains that it was reached from. The outcome is the crawl's own
# record, whose ids begin at 0.
_PAGE_GROUPS: Final = """
    WITH nearest AS MATERIALIZED (SELECT page_id, min(depth) AS depth FROM page_depths GROUP BY page_id)
    SELECT domain, pages.state, outcome, nearest.depth, count(*)
    FROM pages JOIN urls ON urls.id = pages.id - 1 LEFT JOIN nearest ON nearest.page_id = pages.id
    GROUP BY domain, pages.state, outcome, nearest.depth
"""
_REQUESTS: Final = "SELECT domain, request_count FROM domain_states"
_WHY_UNREACHABLE: Final = """
    SELECT domain, min(error_message) FROM pages WHERE state = 'Unreachable' GROUP BY domain
"""

_PASSED_OVER: Final = BY_ENDING[Ending.PASSED_OVER]

MOST_NAMED: Final = 10  # where the words are notes in a summary


class PageGroup(msgspec.Struct, frozen=True):
    """Pages of one domain that are alike."""

    domain: str
    state: str
    outcome: str | None
    depth: int | None
    count: int

    @property
    def read(self) -> int:
        """How many of them are pages that were read; a redirect is none."""
        return self.count if self.state == "Processed" and self.outcome != Outcome.REDIRECTED else 0


class Coverage(msgspec.Struct, frozen=True):
    """Of one domain: counts of its addresses, which with those that are no pages add up to all of them."""

    read: int = 0
    waiting: int = 0
    limited: int = 0  # over the limit of requests of a run
    rate_limited: int = 0  # the domain answered 429
    denied: int = 0  # by robots.txt
    passed_over: int = 0  # by another rule, as one of endless URLs
    failed: int = 0
    unreachable: int = 0
    no_page: int = 0  # dead links, redirects, other content than HTML: answers that are final
    requests: int = 0  # in the last run
    why_unreachable: str = ""

    @property
    def missing(self) -> int:
        barred = self.limited + self.rate_limited + self.denied + self.passed_over
        return self.waiting + barred + self.failed + self.unreachable

    @property
    def explored(self) -> bool:
        return self.read > 0 and not self.missing

    @property
    def dead(self) -> bool:
        """Nobody was there: no address of the domain was answered."""
        return self.unreachable > 0 and self.unreachable == self.missing and not self.read + self.no_page

    @property
    def words(self) -> str:
        """``explored, 23 pages``, ``6 of 23 pages, limit of 12 requests reached``, ``dead: ...``"""
        if self.explored:
            return f"explored, {_pages(self.read)}"
        if self.dead:
            return f"dead: {self.why_unreachable or 'nobody answered'}"
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


# What each state of a page counts as; robots.txt is told from other failures by the outcome.
_COUNTED_AS: Final = {
    "Queued": "waiting",
    "RequestLimitHit": "limited",
    "RateLimited": "rate_limited",
    "Unreachable": "unreachable",
    "Failed": "failed",
    # A page of a quality domain is never too deep; elsewhere the limit on depth is a limit like any other.
    "DepthExceeded": "no_page",
}


def page_groups(db: apsw.Connection) -> list[PageGroup]:
    return [PageGroup(*row) for row in db.execute(_PAGE_GROUPS)]


def quality_coverage(db: apsw.Connection, groups: Iterable[PageGroup]) -> dict[str, Coverage]:
    """Of every quality domain: only their pages are no link away from one. In the order of their names."""
    counts: dict[str, Counter[str]] = {}
    chosen: set[str] = set()
    for group in groups:
        if group.state not in ("Blacklisted", "Stubbed"):
            counts.setdefault(group.domain, Counter())[_kind(group)] += group.count
            chosen |= {group.domain} if group.depth == 0 else set()
    requests: dict[str, int] = dict(db.execute(_REQUESTS))
    why: dict[str, str | None] = dict(db.execute(_WHY_UNREACHABLE))
    return {
        domain: Coverage(
            **counts[domain], requests=requests.get(domain, 0), why_unreachable=_reason(why.get(domain) or "")
        )
        for domain in sorted(chosen)
    }


def coverage_notes(coverage: Mapping[str, Coverage]) -> tuple[str, ...]:
    """What a summary says of the quality domains: of a few all, of many those that are not explored."""
    told = coverage
    if len(coverage) > MOST_NAMED:
        told = {domain: one for domain, one in coverage.items() if not one.explored}
    named = list(told.items())[:MOST_NAMED]
    lines = [f"{domain}: {one.words}" for domain, one in named]
    if len(coverage) > MOST_NAMED:
        lines.append(how_many_explored(coverage.values()))
    return tuple(lines)


def read_coverage(database: Path) -> dict[str, Coverage]:
    """As of what is committed; also while a run goes on."""
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
    if group.outcome == Outcome.BAD_URL:  # a typing error that nobody can ask for
        return "no_page"
    if group.state == "Failed" and group.outcome in _PASSED_OVER:
        return "passed_over"
    return _COUNTED_AS.get(group.state, "no_page")


def _reason(rule: str) -> str:
    """Of a host that could not even be asked for its robots.txt: what was in the way."""
    return rule.rpartition("): ")[2]


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"
