"""A page that is not there under the spelling that was asked for is asked for once more, under the other one.

Some servers know ``/guide/`` alone and some ``/guide`` alone, and a site may have a name with ``www.`` only.
To the job both are one page, whichever a link says. The other spelling is a request like any other, on a
polite turn of its own. Who was asked twice is kept in memory only: after a restart it may be a third time.
"""

from typing import Final

from sumi.model import Hop, Kind, Lease
from sumi.outcomes import Outcome
from sumi.recipe import Recipe
from sumi.urls import rules_for
from sumi.urls.alternatives import other_name, other_path

# A path that robots.txt forbids may be allowed without the parameters that are no part of the identity.
_ELSEWHERE: Final = {
    Outcome.NOT_FOUND: other_path,
    Outcome.ROBOTS_DENIED: other_path,
    Outcome.DNS_FAILED: other_name,
}


class OtherSpellings:
    def __init__(self, recipe: Recipe) -> None:
        self._rules = rules_for(recipe.preset, recipe.keep_params)
        self._tried: set[str] = set()

    def next_for(self, lease: Lease, outcome: Outcome) -> str | None:
        """What to request instead, once; None if there is nothing else to try."""
        find = _ELSEWHERE.get(outcome)
        candidate = lease.candidate
        if find is None or candidate.kind is not Kind.PAGE or candidate.hop is Hop.GUESS:
            return None
        if outcome is Outcome.ROBOTS_DENIED and not candidate.address:
            return None  # nobody looks for a way around robots.txt
        other = None if lease.url in self._tried else find(lease.target, lease.url, self._rules)
        if other is not None:
            self._tried.add(lease.url)
        return other

    def settled(self, url: str) -> None:
        self._tried.discard(url)
