"""A page's type asked for with HEAD before its content, each request on a polite turn of its own.

HEAD only ever saves a download: servers that refuse it, or break over it, are asked for the page itself. Who
was asked is kept in memory, and by the store of a map: a page that waits for its second turn is not in
flight, and a kill must not cost more requests than there are pages in flight.
"""

from sumi.engine.answers import REDIRECTS
from sumi.model import Kind, Lease, Response
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.parse.page.media_type import Form, form_of, is_unspecific

# Nobody is there, and another method will not change that.
NOBODY = frozenset(
    {
        Outcome.ADDRESS_REFUSED,
        Outcome.BAD_URL,
        Outcome.CONNECT_FAILED,
        Outcome.DNS_FAILED,
        Outcome.TLS_FAILED,
    }
)
# Answers that are about the page or about us, and not about the method.
CONCLUSIVE = REDIRECTS | {404, 410, 429}


class Heads:
    def __init__(self, *, active: bool, pause: float = 0.0) -> None:
        """``pause``: seconds until a page is asked for whose type could not be had."""
        self._active = active
        self._pause = pause
        self._asked: set[str] = set()

    def due(self, lease: Lease) -> bool:
        asked = lease.head_answered or lease.url in self._asked
        return self._active and lease.candidate.kind is Kind.PAGE and not asked

    def answered(self, lease: Lease) -> None:
        """Next time, and at every retry, it is the page's turn."""
        self._asked.add(lease.url)

    def pause_after(self, answer: Response | Trouble) -> float:
        """None after an answer to HEAD, be it that there is no HEAD. A server in trouble is not asked for the
        page itself a moment later."""
        is_answer = isinstance(answer, Response) and answer.status < 500
        return 0.0 if is_answer else self._pause

    def settled(self, url: str) -> None:
        self._asked.discard(url)


def concludes(answer: Response | Trouble) -> bool:
    """Whether an answer to HEAD spares us the page."""
    if isinstance(answer, Trouble):
        return answer.verdict.outcome in NOBODY
    return answer.status in CONCLUSIVE or wrong_type(answer) is not None


def wrong_type(answer: Response) -> Verdict | None:
    """The verdict on content that is certainly no page; a type that says nothing is no reason."""
    declared = answer.header("content-type") or ""
    if not 200 <= answer.status < 300 or is_unspecific(declared):
        return None
    form, words = form_of(declared, b"")
    return Verdict(Outcome.NOT_HTML, f"HEAD: {words}") if form is Form.OTHER else None
