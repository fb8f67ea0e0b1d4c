"""Tells a user at once that a site cannot be reached, instead of retrying a typing error for minutes."""

from sumi.errors import UsageError
from sumi.model import Request, Response
from sumi.outcomes import UNREACHABLE, Outcome, Trouble
from sumi.ports import Fetcher

NOT_REACHED = UNREACHABLE | {Outcome.TIMED_OUT}
ADVICE = {
    Outcome.ADDRESS_REFUSED: "give the address itself as the URL, or --allow-private",
    Outcome.DNS_FAILED: "check the spelling of the host",
    Outcome.TLS_FAILED: "check the URL, or name the certificate authority with --ca-file",
}


class FirstContact:
    """A Fetcher for a new job: the first exchange must reach somebody, later ones may fail."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._made = False

    async def fetch(self, request: Request) -> Response | Trouble:
        answer = await self._fetcher.fetch(request)
        if not self._made and isinstance(answer, Trouble) and answer.verdict.outcome in NOT_REACHED:
            verdict = answer.verdict
            advice = ADVICE.get(verdict.outcome, "check the URL and that the server is up")
            if verdict.outcome is Outcome.ADDRESS_REFUSED and verdict.rule.startswith("port "):
                advice = "give another port"
            raise UsageError(f"cannot reach {request.url}: {verdict.rule}; {advice}")
        self._made = True
        return answer

    async def aclose(self) -> None:
        await self._fetcher.aclose()
