"""The states of a page on a map, the table of allowed transitions, and the steps to each state."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from sumi.errors import IllegalTransition
from sumi.outcomes import Outcome


class PageState(StrEnum):
    DISCOVERED = "Discovered"  # its URL was found; never stored
    QUEUED = "Queued"  # waits to be fetched, perhaps not for the first time
    FETCHING = "Fetching"  # never stored either: a page that a kill interrupts is still queued

    PROCESSED = "Processed"  # read and its links recorded; a redirect is a page with one link

    BLACKLISTED = "Blacklisted"  # on a blacklisted domain: references are counted
    STUBBED = "Stubbed"  # on a stub domain: URLs are recorded

    DEAD_LINK = "DeadLink"  # 404, 410, or a soft 404
    UNREACHABLE = "Unreachable"  # DNS, connection or TLS failed
    RATE_LIMITED = "RateLimited"  # its domain answered 429 and is not asked again in this run
    FAILED = "Failed"  # anything else, including robots.txt; see error_message

    DEPTH_EXCEEDED = "DepthExceeded"  # too many links from every origin
    REQUEST_LIMIT_HIT = "RequestLimitHit"  # its domain has reached its request limit for this run
    CONTENT_MISMATCH = "ContentMismatch"  # not HTML, such as the data of a menu, whose links are recorded


S = PageState

# The possible results of a fetch.
ANSWERED: Final = frozenset(
    {S.DEAD_LINK, S.UNREACHABLE, S.RATE_LIMITED, S.FAILED, S.PROCESSED, S.CONTENT_MISMATCH}
)
# Pages that wait but may not be fetched in this run, so they are not in the queue until the next one.
BARRED: Final = frozenset({S.RATE_LIMITED, S.REQUEST_LIMIT_HIT})
# A later run, a shorter path or another configuration may queue these again.
REOPENED: Final = ANSWERED | {S.DEPTH_EXCEEDED, S.REQUEST_LIMIT_HIT, S.BLACKLISTED, S.STUBBED}

TRANSITIONS: Final[dict[PageState, frozenset[PageState]]] = {
    S.DISCOVERED: frozenset({S.BLACKLISTED, S.STUBBED, S.QUEUED}),
    # Back to the start if another configuration excludes a waiting page.
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
    Outcome.READ: S.CONTENT_MISMATCH,
    Outcome.NOT_FOUND: S.DEAD_LINK,
    Outcome.SOFT_404: S.DEAD_LINK,
    Outcome.DNS_FAILED: S.UNREACHABLE,
    Outcome.CONNECT_FAILED: S.UNREACHABLE,
    Outcome.TLS_FAILED: S.UNREACHABLE,
    Outcome.ADDRESS_REFUSED: S.UNREACHABLE,
    Outcome.ROBOTS_UNREACHABLE: S.UNREACHABLE,  # robots.txt is always the first request to a host
    Outcome.RATE_LIMITED: S.RATE_LIMITED,
}
_BY_NAME: Final = {outcome.value: STATE_OF.get(outcome, S.FAILED) for outcome in Outcome}

UNVISITED: Final = frozenset({S.BLACKLISTED, S.STUBBED})
_FROM_QUEUE: Final = {state: (S.FETCHING, state) for state in ANSWERED} | {
    state: (S.DISCOVERED, state) for state in UNVISITED
}
_FROM_DISCOVERY: Final = {
    S.BLACKLISTED: (S.BLACKLISTED,),
    S.STUBBED: (S.STUBBED,),
    S.DEPTH_EXCEEDED: (S.QUEUED, S.DEPTH_EXCEEDED),
} | {state: (S.QUEUED, S.FETCHING, state) for state in ANSWERED}


def state_of(outcome: str | None) -> PageState:
    """The state of a page with this outcome; None: it waits."""
    return S.QUEUED if outcome is None else _BY_NAME[outcome]


def transitions(old: PageState, new: PageState) -> Iterator[PageState]:
    """The states after ``old`` up to ``new``, each checked."""
    for state in _steps(old, new):
        check_transition(old, state)
        old = state
        yield state


def check_transition(old: PageState, new: PageState) -> None:
    if new not in TRANSITIONS[old]:
        raise IllegalTransition(f"a page that is {old} cannot become {new}: this is a bug in Sumi")


def _steps(old: PageState, new: PageState) -> tuple[PageState, ...]:
    if old is S.DISCOVERED:
        return _FROM_DISCOVERY.get(new, (new,))
    return _FROM_QUEUE.get(new, (new,)) if old is S.QUEUED else (new,)
