"""The records of a journal, one type per kind of change. The meaning of a type must never change."""

from typing import TypeAlias

import msgspec

from sumi.model import Candidate, Hop, Kind, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.ports import Judged, RobotsRecord
from sumi.state.entries import StoredUrl


class Find(msgspec.Struct, array_like=True, omit_defaults=True):
    """A judged candidate, compactly; its referrer is the record's own URL unless given."""

    url: str
    hop: Hop
    depth: int
    kind: Kind = Kind.PAGE
    outcome: Outcome | None = None
    rule: str = ""
    score: float = 0.0
    redirects: int = 0
    referrer: str | None = None
    address: str = ""

    @classmethod
    def of(cls, item: Judged, finder: str | None) -> "Find":
        c, refusal = item.candidate, item.refusal
        return cls(
            url=c.url,
            hop=c.hop,
            depth=c.depth,
            kind=c.kind,
            outcome=refusal.outcome if refusal else None,
            rule=refusal.rule if refusal else "",
            score=c.score,
            redirects=c.redirects,
            referrer=None if c.referrer == finder else c.referrer,
            address=c.address,
        )

    def judged(self, finder: str | None) -> Judged:
        referrer = self.referrer or finder
        candidate = Candidate(
            self.url, self.hop, self.kind, self.depth, referrer, self.score, self.redirects, self.address
        )
        return Judged(candidate, None if self.outcome is None else Verdict(self.outcome, self.rule))


class Added(msgspec.Struct, tag="add"):
    found: list[Find]


class Ended(msgspec.Struct, tag="end", omit_defaults=True):
    """A settlement."""

    url: str
    outcome: Outcome
    at: float
    rule: str = ""
    facts: PageFacts = PageFacts()
    found: list[Find] = []


class PutBack(msgspec.Struct, tag="back", omit_defaults=True):
    """A deferral."""

    url: str
    at: float
    not_before: float
    failure: Outcome | None = None
    rule: str = ""
    address: str = ""
    found: list[Find] = []


class Again(msgspec.Struct, tag="again"):
    """Settled URLs that were queued again."""

    urls: list[str]
    at: float


class Amended(msgspec.Struct, tag="amend"):
    """New facts of a settled URL."""

    url: str
    facts: PageFacts


class HostSet(msgspec.Struct, tag="host", omit_defaults=True):
    """What must be remembered about a host when the process ends."""

    host: str
    crawl_delay: float = 0.0
    hold_until: float = 0.0
    hold_why: str = ""


class RobotsPut(msgspec.Struct, tag="robots"):
    record: RobotsRecord


class NotePut(msgspec.Struct, tag="note"):
    key: str
    value: str


class Imported(msgspec.Struct, tag="carried"):
    """A URL imported from another store."""

    stored: StoredUrl


class ListingSet(msgspec.Struct, tag="listing"):
    """How many pages sitemaps had listed, imported from another store."""

    pages: int


class Synced(msgspec.Struct, tag="sync"):
    """Everything before this place is durable, including the files that it names."""

    upto: int


Record: TypeAlias = (
    Added | Ended | PutBack | Again | Amended | HostSet | RobotsPut | NotePut | Imported | ListingSet | Synced
)

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Record).decode
