"""The summary of a run: the counts, and notes on traps, bot checks, near-duplicates and fidelity.

All of it is read from the ledger, so that it covers the whole job and not only its last run.
"""

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from heapq import nlargest, nsmallest
from typing import NamedTuple

from sumi.engine.completeness import ABORTED, Findings, Standing, standing, within_cap
from sumi.events import Summary
from sumi.frontier.novelty import near_duplicates
from sumi.frontier.pacing import BUDGET_SPENT, GIVEN_UP, SUSPENDED
from sumi.outcomes import UP_TO_DATE, Outcome
from sumi.parse.page.digest import ROUTES, UNRENDERED
from sumi.ports import FrontierStats, HostWait, Ledger, UrlRecord
from sumi.recipe import Recipe
from sumi.urls import host_key

# A summary is read by people.
_MAX_NAMED = 10
_MAX_SHORTFALLS = 3
# Below this, a reader would miss something; better pages are named only if the bar is higher.
GOOD = 0.9
MUCH_JUNK = 0.2  # above this, a reader notices
_LOW_SHARE = 20  # the 5th percentile
NOTHING_FOUND = Findings()
SIGN_IN = re.compile(r"/(?:log|sign)[-_]?(?:in|on)\b", re.IGNORECASE)


def summarize(
    recipe: Recipe,
    stats: FrontierStats,
    waits: Sequence[HostWait],
    output: str,
    seconds: float,
    *,
    stopped: bool = False,
    aborted: bool = False,
    notes: tuple[str, ...] = (),
    findings: Findings = NOTHING_FOUND,
) -> Summary:
    stats = within_cap(stats, recipe.max_pages)
    over_budget = sum(wait.pending for wait in waits if wait.why == BUDGET_SPENT)
    suspended = sum(wait.pending for wait in waits if wait.why == SUSPENDED)
    outcomes = balanced(stats, over_budget=over_budget, suspended=suspended)
    stands = standing(
        stats,
        outcomes,
        findings,
        stopped=stopped,
        # The depth of a map, and of a capture beyond its bases, defines the job.
        edge=recipe.record_links or bool(recipe.scope.bases),
        follows=recipe.take_links and not recipe.list_only,
    )
    return Summary(
        job=recipe.job,
        status=ABORTED if aborted else stands.status,
        discovered=stats.known,
        outcomes=outcomes,
        output=output,
        seconds=round(seconds, 3),
        notes=(*notes, *findings.remains.notes, *_given_up(waits)),
        below_fidelity=findings.below_fidelity,
        above_junk=findings.above_junk,
        unread=findings.remains.unread,
        left_out=stands.left_out,
        alone=stands.alone,
        amiss=stands.amiss,
        excused=stands.excused,
    )


def standing_of(summary: Summary) -> Standing:
    return Standing(summary.status, summary.left_out, summary.alone, summary.amiss, summary.excused)


def balanced(stats: FrontierStats, *, over_budget: int = 0, suspended: int = 0) -> dict[str, int]:
    """Outcomes by name that add up to all URLs ever discovered, pending ones included."""
    outcomes = Counter({str(outcome): count for outcome, count in stats.outcomes.items()})
    if not stats.pending:
        over_budget = suspended = 0
    outcomes[Outcome.OVER_BUDGET] += over_budget
    outcomes[Outcome.RATE_LIMITED] += suspended
    outcomes[Outcome.PENDING] += stats.pending - over_budget - suspended
    return {str(name): count for name, count in outcomes.items() if count}


def _given_up(waits: Sequence[HostWait]) -> list[str]:
    dead = [wait for wait in waits if wait.why == GIVEN_UP]
    return [
        f"{wait.host} no longer answers: {wait.pending:,} of its pages wait for another run"
        for wait in dead[:_MAX_NAMED]
    ]


class _Page(NamedTuple):
    score: float
    url: str
    shortfalls: tuple[str, ...]


class Scores:
    """How much of its pages a job's Markdown contains, and how much of that is junk: the distributions, and
    the worst pages."""

    def __init__(self, bar: float, most_junk: float) -> None:
        self._bar = bar
        self._scores = array("d")
        self._worst: list[_Page] = []
        self._most_junk = most_junk
        self._junk = array("d")
        self._fullest: list[_Page] = []

    def take(self, record: UrlRecord) -> None:
        junk = record.facts.junk
        if junk is not None:
            self._junk.append(junk)
            if junk > min(self._most_junk, MUCH_JUNK):
                self._fullest = nlargest(_MAX_NAMED, [*self._fullest, _Page(junk, record.url, ())])
        score = record.facts.fidelity
        if score is None:
            return
        self._scores.append(score)
        if score < max(self._bar, GOOD):
            restless = filter(None, (record.facts.render_note,))
            page = _Page(score, record.url, (*restless, *record.facts.shortfalls))
            self._worst = nsmallest(_MAX_NAMED, [*self._worst, page])

    @property
    def below(self) -> int:
        """Pages below the bar."""
        return sum(score < self._bar for score in self._scores)

    @property
    def above(self) -> int:
        """Pages with more junk than allowed."""
        return sum(junk > self._most_junk for junk in self._junk)

    def notes(self) -> tuple[str, ...]:
        notes: list[str] = []
        if self._scores:
            notes += (_distribution(self._scores, self.below, self._bar), *map(_named, self._worst))
        if self._junk:
            named = (f"junk {page.score:.3f}: {page.url}" for page in self._fullest)
            notes += (_junk_distribution(self._junk, self.above, self._most_junk), *named)
        return tuple(notes)


def _distribution(scores: "array[float]", below: int, bar: float) -> str:
    ordered = sorted(scores)
    median, low = ordered[len(ordered) // 2], ordered[len(ordered) // _LOW_SHARE]
    poor = sum(score < GOOD for score in ordered)
    words = f"fidelity: median {median:.3f}, 5th percentile {low:.3f}, {poor:,} below {GOOD:g}"
    return f"{words}, {below:,} below --min-fidelity {bar:g}" if bar else words


def _junk_distribution(shares: "array[float]", above: int, most: float) -> str:
    ordered = sorted(shares)
    median, high = ordered[len(ordered) // 2], ordered[-1 - len(ordered) // _LOW_SHARE]
    full = sum(share > MUCH_JUNK for share in ordered)
    words = f"junk: median {median:.3f}, 95th percentile {high:.3f}, {full:,} above {MUCH_JUNK:g}"
    return f"{words}, {above:,} above --max-junk {most:g}" if most < 1 else words


def _named(page: _Page) -> str:
    return f"fidelity {page.score:.3f}: {page.url} ({'; '.join(page.shortfalls[:_MAX_SHORTFALLS])})"


class Remarks(NamedTuple):
    notes: tuple[str, ...]
    dropped: int  # links
    unrendered: int  # pages
    hash_routes: int


async def findings(ledger: Ledger, scores: Scores) -> Remarks:
    """Adds the pages to ``scores`` on the way, which saves a second pass over all records."""
    pages = await _pages(ledger, scores)
    before = (*await _traps(ledger), *await _challenges(ledger), *await _sign_ins(ledger))
    return pages._replace(notes=(*before, *pages.notes))


async def _traps(ledger: Ledger) -> list[str]:
    rules = Counter([record.rule async for record in ledger.records((Outcome.TRAP,))])
    notes = [f"trap: {rule} ({_urls(count)} skipped)" for rule, count in rules.most_common(_MAX_NAMED)]
    unnamed = len(rules) - len(notes)
    return [*notes, f"trap: {unnamed} more kinds, see the manifest"] if unnamed else notes


async def _challenges(ledger: Ledger) -> list[str]:
    hosts = Counter(
        [(host_key(record.url), record.rule) async for record in ledger.records((Outcome.CHALLENGE,))]
    )
    return [
        f"{host} put up a bot check ({rule.rpartition(': ')[2]}) for {_urls(count)}: crawl more slowly, "
        "or ask the site's owner to let you in"
        for (host, rule), count in hosts.most_common(_MAX_NAMED)
    ]


async def _sign_ins(ledger: Ledger) -> list[str]:
    """Such pages are answered with 200, and would pass for the content."""
    led = Counter[str]()
    async for record in ledger.records((Outcome.REDIRECTED,)):
        where = (record.facts.location or "").partition("?")[0]
        if SIGN_IN.search(where):
            led[where] += 1
    return [
        f"{_counted(count, 'page')} led to the sign-in page {where}: --login takes what is behind it"
        for where, count in led.most_common(_MAX_NAMED)
    ]


async def _pages(ledger: Ledger, scores: Scores) -> Remarks:
    hashes = array("Q")
    unindexed = dropped = unrendered = routes = 0
    rendered, notes_of_pages = Counter[str](), Counter[str]()
    async for record in ledger.records(UP_TO_DATE):
        scores.take(record)
        dropped += record.facts.links_dropped
        unrendered += _begins(record, UNRENDERED)
        routes += _begins(record, ROUTES)
        if record.facts.simhash is not None:
            hashes.append(int(record.facts.simhash, 16))
        unindexed += "noindex" in (record.facts.robots_meta or "").lower()
        rendered.update(filter(None, (record.facts.rendered,)))
        notes_of_pages.update(filter(None, (record.facts.render_note,)))
    groups = near_duplicates(hashes)
    notes = []
    if groups:
        pages = sum(map(len, groups))
        notes.append(f"near-duplicates: {pages:,} pages in {_counted(len(groups), 'group')}; all were kept")
    if unindexed:
        notes.append(f"noindex: {_counted(unindexed, 'page')} asked not to be indexed; kept and marked")
    return Remarks((*notes, *_rendered(rendered, notes_of_pages)), dropped, unrendered, routes)


def _begins(record: UrlRecord, what: str) -> bool:
    return any(shortfall.startswith(what) for shortfall in record.facts.shortfalls)


def _rendered(reasons: Counter[str], troubles: Counter[str]) -> list[str]:
    rendered = [
        f"rendered in a browser: {_counted(count, 'page')} ({why})"
        for why, count in reasons.most_common(_MAX_NAMED)
    ]
    troubled = [f"{note} on {_counted(count, 'page')}" for note, count in troubles.most_common(_MAX_NAMED)]
    return rendered + troubled


def _urls(count: int) -> str:
    return _counted(count, "URL")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
