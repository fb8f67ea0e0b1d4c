"""Which of the URLs with one text is the page, and which are its other names.

While a capture runs, the first one that arrived is the page. At its end the pages themselves decide by
``rel=canonical``, and otherwise the order in which the URLs were found, so that chance has no say.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sumi.jobs.capture.database import CaptureDatabase
from sumi.outcomes import CAME, Outcome
from sumi.ports import Ledger


class Named(NamedTuple):
    url: str
    depth: int
    canonical: str | None


async def settle_groups(
    ledger: Ledger, database: CaptureDatabase, job_id: str, base_of: Callable[[str], int]
) -> None:
    """The page stays in its base, whose limit it counts against (``base_of``). A text makes a group, not the
    page that came first with it: of machines that work beside each other, each may have had a first one."""
    groups: dict[str, list[Named]] = {}
    firsts: dict[str, str] = {}
    async for record in ledger.records((Outcome.DUPLICATE,)):
        if record.facts.content_key is not None:
            groups[record.facts.content_key] = []
    if not groups:
        return
    async for record in ledger.records(CAME):
        key = record.facts.content_key
        if key in groups:
            groups[key].append(Named(record.url, record.depth, record.facts.canonical))
            if record.outcome is not Outcome.DUPLICATE:
                firsts.setdefault(key, record.url)
    for key, members in groups.items():
        first = firsts.get(key, members[0].url)
        page = chosen([one for one in members if base_of(one.url) == base_of(first)] or members)
        database.name_group(job_id, first, page, [one.url for one in members])


def chosen(members: Sequence[Named]) -> str:
    """``members`` in the order in which they were found."""
    urls = {one.url for one in members}
    named = Counter(one.canonical for one in members if one.canonical in urls)
    return min(members, key=lambda one: (-named[one.url], one.depth)).url
