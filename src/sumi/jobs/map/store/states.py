"""The life of a page on a map: its states, one table of allowed moves, the way to each ending."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from sumi.errors import IllegalTransition
from sumi.outcomes import Outcome


class PageState(StrEnum):
    DISCOVERED = "Discovered"  # its URL was found; only ever passed through
    QUEUED = "Queued"  # waits to be fetched, perhaps for another try
    FETCHING = "Fetching"  # being asked for. Passed through too: what a kill interrupts is still queued

    PROCESSED = "Processed"  # read, and its links recorded; a redirect is a page with one link

    BLACKLISTED = "Blacklisted"  # on a domain that is only counted
    STUBBED = "Stubbed"  # on a domain of which addresses are noted

    DEAD_LINK = "DeadLink"  # 404, 410, or a page that says so with another status
    UNREACHABLE = "Unreachable"  # no name, no connection, no TLS
    RATE_LIMITED = "RateLimited"  # its domain said "too many requests" and is left alone for this run
    FAILED = "Failed"  # anything else, robots.txt included; error_message says what

    DEPTH_EXCEEDED = "DepthExceeded"  # too many links away from every origin
    REQUEST_LIMIT_HIT = "RequestLimitHit"  # its domain has reached its request limit for this run
    CONTENT_MISMATCH = "ContentMismatch"  # something else than HTML


S = PageState

# Where a fetch can lead.
ANSWERED: Final = frozenset(
    {S.DEAD_LINK, S.UNREACHABLE, S.RATE_LIMITED, S.FAILED, S.PROCESSED, S.CONTENT_MISMATCH}
)
# Pages that wait but may not be fetched in this run: they are in nobody's queue until the next one.
BARRED: Final = frozenset({S.RATE_LIMITED, S.REQUEST_LIMIT_HIT})
# A later run, a shorter way or another configuration begins a page's life anew.
REOPENED: Final = ANSWERED | {S.DEPTH_EXCEEDED, S.REQUEST_LIMIT_HIT, S.BLACKLISTED, S.STUBBED}

TRANSITIONS: Final[dict[PageState, frozenset[PageState]]] = {
    S.DISCOVERED: frozenset({S.BLACKLISTED, S.STUBBED, S.QUEUED}),
    # Back to the start where another configuration says otherwise of a page that waits.
    S.QUEUED: frozenset({S.DEPTH_EXCEEDED, S.FETCHING, S.DISCOVERED}) | BARRED,
    S.FETCHING: ANSWERED | {S.QUEUED},
} | {state: frozenset({S.QUEUED}) for state in REOPENED}

STATE_OF: Final[dict[Outcome, PageState]] = {
    Outcome.CAPTURED: S.PROCESSED,
    Outcome.UNCHANGED: S.PROCESSED,
    Outcome.DUPLICATE: S.PROCESSED,
    Outcome.REDIRECTED: S.PROCESSED,
    Outcome.BLACKLISTED: S.BLACKLISTED,
    Outcome.STUBBED: S.STUBBED,
    Outcome.TOO_DEEP: S.DEPTH_EXCEEDED,
    Outcome.NOT_HTML: S.CONTENT_MISMATCH,
    Outcome.NOT_FOUND: S.DEAD_LINK,
    Outcome.SOFT_404: S.DEAD_LINK,
    Outcome.DNS_FAILED: S.UNREACHABLE,
    Outcome.CONNECT_FAILED: S.UNREACHABLE,
    Outcome.TLS_FAILED: S.UNREACHABLE,
    Outcome.ADDRESS_REFUSED: S.UNREACHABLE,
    Outcome.ROBOTS_UNREACHABLE: S.UNREACHABLE,  # nobody answered, and robots.txt is asked for first
    Outcome.RATE_LIMITED: S.RATE_LIMITED,
}
_BY_NAME: Final = {outcome.value: STATE_OF.get(outcome, S.FAILED) for outcome in Outcome}

NOTED: Final = frozenset({S.BLACKLISTED, S.STUBBED})
_FROM_QUEUE: Final = {state: (S.FETCHING, state) for state in ANSWERED} | {
    state: (S.DISCOVERED, state) for state in NOTED
}
_FROM_DISCOVERY: Final = {
    S.BLACKLISTED: (S.BLACKLISTED,),
    S.STUBBED: (S.STUBBED,),
    S.DEPTH_EXCEEDED: (S.QUEUED, S.DEPTH_EXCEEDED),
} | {state: (S.QUEUED, S.FETCHING, state) for state in ANSWERED}


def state_of(outcome: str | None) -> PageState:
    """Of a page with this outcome; without one it waits."""
    return S.QUEUED if outcome is None else _BY_NAME[outcome]


def course(old: PageState, new: PageState) -> Iterator[PageState]:
    """The states that lead from one to another, each checked; the last is ``new``."""
    for state in _way(old, new):
        check(old, state)
        old = state
        yield state


def check(old: PageState, new: PageState) -> None:
    if new not in TRANSITIONS[old]:
        raise IllegalTransition(f"a page that is {old} cannot become {new}: this is a bug in Sumi")


def _way(old: PageState, new: PageState) -> tuple[PageState, ...]:
    if old is S.DISCOVERED:
        return _FROM_DISCOVERY.get(new, (new,))
    return _FROM_QUEUE.get(new, (new,)) if old is S.QUEUED else (new,)
