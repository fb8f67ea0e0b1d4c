"""The policy of a job in one answer: is this URL taken, why, and what kind of page is it."""

import msgspec

from sumi.model import Candidate
from sumi.scope.profiles import ProfileName, shapes_of
from sumi.scope.scope import Scope
from sumi.urls import split
from sumi.urls.identity import tidy_escapes

# A page that the user's own patterns take and the profile has no name for.
OTHER = "other"


class PolicyVerdict(msgspec.Struct, frozen=True):
    ok: bool
    reason: str  # the rule that refused, or why nothing did
    page_type: str


class Profile:
    """A scope, and the names that its site's pages go by. URLs are normalized ones."""

    def __init__(self, name: ProfileName, scope: Scope) -> None:
        self.name = name
        self._scope = scope
        self._shapes = shapes_of(name)

    def gate(self, url: str) -> PolicyVerdict:
        """Host, then patterns that deny, then patterns or page types that allow. robots.txt is not asked."""
        page_type = self.page_type(url)
        refusal = self._scope.judge(Candidate(url))
        if refusal is not None:
            return PolicyVerdict(False, f"{refusal.outcome}: {refusal.rule}", page_type)
        return PolicyVerdict(True, self._why_taken(url, page_type), page_type)

    def page_type(self, url: str) -> str:
        return self._shapes.page_type(_path(url)) or OTHER

    def group_of(self, url: str) -> str | None:
        """The repository, as ``owner/repo``; None where pages are not counted together."""
        return self._shapes.group_of(_path(url))

    def _why_taken(self, url: str, page_type: str) -> str:
        allowed_by = self._scope.allowed_by(url)
        if allowed_by is not None:
            return f"allowed by {allowed_by}"
        return f"page type {page_type}" if self._scope.profile else "no rule refuses it"


def _path(url: str) -> str:
    return tidy_escapes(split(url).path)
