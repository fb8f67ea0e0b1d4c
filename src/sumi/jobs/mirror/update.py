"""A mirror brought up to date: everything that is here is asked for again, if it may have changed."""

from collections.abc import Callable

from sumi.engine.revisit import to_be_made_again
from sumi.jobs.mirror.changes import Update, last_update, note_update
from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.ports import Frontier, Ledger, UrlRecord

BATCH = 1000
# What may be another one today: pages, the lists they were found by, and what was not there.
ASKED_AGAIN = frozenset(
    {
        Outcome.CAPTURED,
        Outcome.UNCHANGED,
        Outcome.DUPLICATE,
        Outcome.REDIRECTED,
        Outcome.READ,
        Outcome.SITEMAP_CUT,
        Outcome.ABSENT,
        Outcome.GONE,
        Outcome.NOT_FOUND,
        Outcome.SOFT_404,
        Outcome.FORBIDDEN,
        Outcome.STORED,
        Outcome.NOT_AN_ASSET,
    }
)


async def begin_update(
    ledger: Ledger, frontier: Frontier, now: float, is_whole: Callable[[UrlRecord], bool]
) -> None:
    """Queue what is to be asked again, unless an interrupted update goes on. Lost files are made anew."""
    last = await last_update(ledger)
    if last is not None and last.ended is None:
        return
    urls: list[str] = []
    lost: dict[str, PageFacts] = {}
    async for record in ledger.records(ASKED_AGAIN):
        urls.append(record.url)
        if not is_whole(record):
            lost[record.url] = to_be_made_again(record.facts)
    await frontier.amend(lost)
    for start in range(0, len(urls), BATCH):
        await frontier.requeue(urls[start : start + BATCH], now)
    # Last: killed before, the update has not begun, and the rest is queued by the next attempt.
    await note_update(ledger, Update(now))
