"""Who is told when a map is done, or broke: one POST of JSON, through the same guarded client as pages."""

import msgspec

from sumi.model import Request
from sumi.outcomes import Trouble
from sumi.ports import Fetcher

ACCEPTED = range(200, 300)
NO_RUN = 0  # the database could not be opened, so that none began


class Notice(msgspec.Struct, frozen=True):
    run: int  # from 1 on, or NO_RUN
    status: str  # as in the table of runs
    database: str
    discovered: int
    error: str = ""


def payload(notice: Notice) -> bytes:
    event = "map.failed" if notice.error else "map.completed"
    return msgspec.json.encode({"event": event} | msgspec.to_builtins(notice))


async def deliver(fetcher: Fetcher, target: str, notice: Notice) -> str:
    """Once, without retries; returns what went wrong, or nothing."""
    headers = (("Content-Type", "application/json"),)
    answer = await fetcher.fetch(Request(target, headers, method="POST", body=payload(notice), plain=True))
    if isinstance(answer, Trouble):
        return answer.verdict.rule
    return "" if answer.status in ACCEPTED else f"HTTP {answer.status}"
