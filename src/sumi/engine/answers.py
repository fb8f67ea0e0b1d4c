"""What an HTTP response means for its page and its host, and what is recorded of it."""

from typing import Final

import msgspec

from sumi.files.plain_text import one_line
from sumi.frontier.freshness import NOT_MODIFIED
from sumi.frontier.retry import retry_after_seconds
from sumi.model import PageFacts, Response
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import HostReport

REDIRECTS = frozenset({300, 301, 302, 303, 307, 308})
TOO_MANY, UNAVAILABLE = 429, 503
THROTTLED = frozenset({TOO_MANY, UNAVAILABLE})
PARTIAL = 206
EXACT = {
    401: Outcome.FORBIDDEN,
    403: Outcome.FORBIDDEN,
    404: Outcome.NOT_FOUND,
    407: Outcome.FORBIDDEN,
    408: Outcome.TIMED_OUT,
    410: Outcome.NOT_FOUND,
    429: Outcome.RATE_LIMITED,
}
# Far above any real title or description; 50,000 of them still make a manageable list.
TITLE_CHARACTERS: Final = 1000
DESCRIPTION_CHARACTERS: Final = 2000
LANGUAGE_CHARACTERS: Final = 64
_SIGNAL_CHARACTERS = 1000


def verdict_on(status: int, *, conditional: bool = False) -> Verdict | None:
    """None for a status with content. ``conditional``: the page was requested only if it changed."""
    if status == PARTIAL:
        return Verdict(Outcome.BAD_HTTP, "HTTP 206: a partial response that was not requested")
    if 200 <= status < 300:
        return None
    if status == NOT_MODIFIED and conditional:
        return Verdict(Outcome.UNCHANGED, f"HTTP {status}")
    if status in EXACT:
        return Verdict(EXACT[status], f"HTTP {status}")
    if 400 <= status < 500:
        return Verdict(Outcome.CLIENT_ERROR, f"HTTP {status}")
    if status >= 500:
        return Verdict(Outcome.SERVER_ERROR, f"HTTP {status}")
    return Verdict(Outcome.BAD_HTTP, f"HTTP {status} was not requested")


def location_of(redirect: Response) -> str:
    """The target of a redirect; empty if it has none.

    Headers are decoded byte for byte; what is not ASCII in a Location is nearly always UTF-8.
    """
    location = redirect.header("location") or ""
    try:
        return location.encode("latin-1").decode()
    except UnicodeError:
        return location


def host_report(answer: Response | Trouble, crawl_delay: float | None = None) -> HostReport:
    """What an exchange says about its host. A 404 comes from a healthy host; a 502 or a timeout does not. A
    503 alone may concern one page; with a Retry-After the host asks for a pause.

    A page that came and then broke our browser does not count against its host.
    """
    status = answer.status if isinstance(answer, Response) else 0
    retry_after = _retry_after(answer)
    broke_browser = isinstance(answer, Trouble) and answer.verdict.outcome is Outcome.RENDER_FAILED
    return HostReport(
        reached=answer.timing.reached,
        latency=answer.timing.latency,
        ok=0 < status < 500 or broke_browser,
        throttled=status == TOO_MANY or (status == UNAVAILABLE and retry_after is not None),
        retry_after=retry_after,
        crawl_delay=crawl_delay,
        status=status,
    )


def _retry_after(answer: Response | Trouble) -> float | None:
    """The pause in seconds that the server asked for; only 429 and 503 can."""
    if isinstance(answer, Trouble) or answer.status not in THROTTLED:
        return None
    value = answer.header("retry-after")
    return None if value is None else retry_after_seconds(value, answer.timing.finished)


def page_facts(response: Response, digest: PageDigest) -> PageFacts:
    """Everything except where the content is kept."""
    return PageFacts(
        status=response.status,
        content_type=response.header("content-type"),
        title=_short(digest.title, TITLE_CHARACTERS),
        language=_short(digest.language, LANGUAGE_CHARACTERS),
        description=_short(digest.description, DESCRIPTION_CHARACTERS),
        canonical=digest.canonical,
        robots_meta=_robots(response, digest),
        etag=response.header("etag"),
        last_modified=response.header("last-modified"),
        body_bytes=len(response.body),
        latency_ms=round(response.timing.latency * 1000),
        fetched_at=response.timing.finished,
        links=len(digest.links) + digest.links_dropped,
        fidelity=digest.fidelity,
        shortfalls=tuple(digest.shortfalls),
        left_out=digest.left_out or None,
    )


def bare_facts(response: Response | None, location: str | None) -> PageFacts:
    if response is None:
        return PageFacts()
    return PageFacts(
        status=response.status,
        content_type=response.header("content-type"),
        location=location,
        body_bytes=len(response.body),
        latency_ms=round(response.timing.latency * 1000),
        fetched_at=response.timing.finished,
    )


def with_permissions(
    facts: PageFacts, response: Response, digest: PageDigest, robots_rule: str, signals: tuple[str, ...]
) -> PageFacts:
    """Add what the site says about the use of the page: the copy may outlive the site."""
    headers = tuple(value.strip() for name, value in response.headers if name == "content-signal")
    said = dict.fromkeys(filter(None, (*signals, *headers)))
    return msgspec.structs.replace(
        facts,
        robots_rule=robots_rule,
        content_signal=", ".join(said)[:_SIGNAL_CHARACTERS] or None,
        licenses=tuple(digest.licenses),
    )


def _robots(response: Response, digest: PageDigest) -> str | None:
    headers = [value for name, value in response.headers if name == "x-robots-tag"]
    return ", ".join(filter(None, [digest.robots_meta, *headers])) or None


def _short(text: str | None, limit: int) -> str | None:
    return (one_line(text, limit) or None) if text else None
