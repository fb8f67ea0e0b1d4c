"""What the in-memory frontier keeps per URL."""

from enum import Enum

from sumi.model import Candidate, Hop, PageFacts
from sumi.outcomes import Outcome, Verdict


class State(Enum):
    WAITING = 1  # in its host's queue
    DELAYED = 2  # waits for a time of its own before it joins that queue
    LEASED = 3  # somebody is at it
    SETTLED = 4  # has its outcome
    REFUSED = 5  # the gate said no when it was found


# For these a new finding can change the gate's mind; every other refusal is a property of the URL itself.
LIFTED_BY_LISTING = frozenset({Outcome.UNLISTED})
LIFTED_BY_SHORTER_WAY = frozenset({Outcome.TOO_DEEP})
# What is no page that is wanted may still be an image that such a page shows.
LIFTED_BY_SHOWING = frozenset({Outcome.OUT_OF_SCOPE, Outcome.EXCLUDED, Outcome.UNLISTED, Outcome.TOO_DEEP})


class Entry:
    """One known URL. ``facts`` is whatever the store needs to find its PageFacts again."""

    __slots__ = (
        "address",
        "at",
        "attempts",
        "candidate",
        "deadline",
        "facts",
        "holds_host",
        "host",
        "latest",
        "sequence",
        "state",
        "token",
        "verdict",
    )

    def __init__(self, candidate: Candidate, host: str, sequence: int) -> None:
        self.candidate = candidate
        self.host = host
        self.sequence = sequence  # discovery order
        self.state = State.WAITING
        self.attempts = 0
        self.address = ""
        self.verdict: Verdict | None = None
        self.at: float | None = None
        self.facts: PageFacts | int | None = None
        self.latest = 0  # number of its latest attempt, where the store numbers them
        self.token = 0
        self.deadline = 0.0  # of the lease; of the wait, while delayed
        self.holds_host = False

    @property
    def rank(self) -> tuple[bool, int, float, int]:
        """Lower is fetched first: sitemaps, then depth, score, discovery."""
        c = self.candidate
        return (c.kind == "page", c.depth, c.score, self.sequence)

    def could_change(self, depth: int, hop: Hop) -> bool:
        """Whether finding it again, at this depth by this hop, could matter."""
        if self.state is State.WAITING or self.state is State.DELAYED:
            return depth < self.candidate.depth
        if self.state is not State.REFUSED or self.verdict is None:
            return False
        if hop is Hop.EMBED:
            return self.verdict.outcome in LIFTED_BY_SHOWING
        if self.verdict.outcome in LIFTED_BY_SHORTER_WAY:
            return depth < self.candidate.depth
        return hop is not Hop.LINK and self.verdict.outcome in LIFTED_BY_LISTING
