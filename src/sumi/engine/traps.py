"""What the run knows of traps. All of it can be told again from the ledger after a restart."""

from sumi.frontier.novelty import SessionWatch, TemplateWatch
from sumi.model import Candidate, Hop, Kind, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.policy import TrapPolicy
from sumi.scope.traps import trap_shape


class TrapWatch:
    def __init__(self, policy: TrapPolicy) -> None:
        self._policy = policy
        self._templates = TemplateWatch(policy.fruitless)
        self._sessions = SessionWatch()

    def refusal(self, candidate: Candidate) -> Verdict | None:
        """By the form of a URL, or by what its likes brought."""
        if candidate.kind is not Kind.PAGE or candidate.hop is Hop.SEED:
            return None
        shape = trap_shape(candidate, self._policy)
        # What a sitemap lists, somebody chose to list: only its form can speak against it.
        return shape if shape or candidate.hop is Hop.MANIFEST else self._learnt(candidate.url)

    def _learnt(self, url: str) -> Verdict | None:
        name = self._sessions.repeated(url)
        if name is not None:
            return Verdict(Outcome.TRAP, f"session id {name}: the page is here under another one")
        template = self._templates.cut(url)
        if template is not None:
            limit = self._policy.fruitless
            return Verdict(Outcome.TRAP, f"{template}: {limit} pages of this kind brought nothing new")
        return None

    def watches(self, url: str) -> bool:
        return self._templates.watches(url)

    def observe(self, url: str, digest: PageDigest, *, known_content: bool) -> int:
        self._sessions.observe(url, digest.simhash)
        return self._templates.observe(url, digest.vocabulary, known_content=known_content)

    def recall(self, url: str, at: float, facts: PageFacts) -> None:
        self._sessions.observe(url, int(facts.simhash, 16) if facts.simhash else None)
        self._templates.recall(url, at, facts.fruitless)
