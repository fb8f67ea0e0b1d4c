"""Soft errors: bot checks, and error pages with status 200, are distinguished from content.

To learn how a host answers for a missing page, a URL that cannot exist (the probe) is requested once, and
only if a page gives cause. Its record is in the ledger, so a restart loses only the count of bot checks in a
row.
"""

from collections import defaultdict
from hashlib import blake2b

from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.visit import Visit
from sumi.frontier.pacing import BOT_CHECK, MAX_DOUBLINGS
from sumi.model import Candidate, Hop, Kind, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.challenge import challenge_error, challenge_header
from sumi.parse.page.digest import PageDigest
from sumi.ports import Deferral, UrlRecord
from sumi.urls import origin, split

CHALLENGING = frozenset({401, 403, 429, 503})
# The shortest and the longest pause after bot checks, each twice as long as the one before. A crawl's
# ``backoff_base_ms`` is about other pauses.
MIN_PAUSE = 30.0
MAX_PAUSE = 900.0
# Error pages that differ in an echoed name or a search box are still the same.
SIMILAR_BITS = 8
# Folders of one host that are probed besides its root: other software may answer there. A host can make up
# any number of folders.
MAX_FOLDERS = 8
# The probe is requested before anything else. A page that has waited for it this often counts as content.
MAX_WAITS = 5


class SoftErrors:
    def __init__(self, io: Io, gate: Gate) -> None:
        self._io = io
        self._gate = gate
        self._in_a_row: dict[str, int] = {}  # bot checks by host, with no good page in between
        self._folders: defaultdict[str, set[str]] = defaultdict(set)  # probed folders, by host

    async def of_error(self, visit: Visit, response: Response) -> Verdict | None:
        """Whether an error response is a bot check."""
        if response.status not in CHALLENGING or visit.candidate.kind is not Kind.PAGE:
            return None
        whose = challenge_header(response.headers) or challenge_error(response.body)
        return await self._challenged(visit, whose) if whose else None

    async def of_page(
        self, visit: Visit, response: Response, digest: PageDigest
    ) -> Verdict | Deferral | None:
        """None for content. A deferral: the probe must be requested first."""
        whose = challenge_header(response.headers) or digest.challenge
        if whose:
            return await self._challenged(visit, whose)
        self._in_a_row.pop(visit.lease.host, None)
        if not digest.looks_missing or digest.simhash is None:
            return None
        return await self._compared(visit, digest.simhash)

    async def _challenged(self, visit: Visit, whose: str) -> Verdict:
        """Hold the host from the second check in a row: one alone may be about its page."""
        host, pacing = visit.lease.host, self._gate.limits.pacing
        before = self._in_a_row.get(host, 0)
        self._in_a_row[host] = before + 1
        if before:
            pause = MIN_PAUSE * 2 ** min(before - 1, MAX_DOUBLINGS)
            until = self._io.clock.now() + min(pause, MAX_PAUSE, pacing.max_hold)
            await self._io.frontier.hold_host(host, until, BOT_CHECK)
        return Verdict(Outcome.CHALLENGE, f"instead of the page: {whose}")

    async def _compared(self, visit: Visit, simhash: int) -> Verdict | Deferral | None:
        for probe in probe_urls(visit.url):
            record = await self._io.ledger.record(probe)
            if record is None and not self._may_probe(visit.lease.host, probe):
                return None
            if record is None or record.outcome is Outcome.PENDING:
                return await self._put_off(visit, probe)
            visit.tried.probes = 0
            if _resembles(record, simhash):
                return Verdict(Outcome.SOFT_404, f"as {probe}, which cannot exist")
        return None

    def _may_probe(self, host: str, probe: str) -> bool:
        if split(probe).path.count("/") == 1:
            return True
        probed = self._folders[host]
        if len(probed) < MAX_FOLDERS:
            probed.add(probe)
        return probe in probed

    async def _put_off(self, visit: Visit, probe: str) -> Deferral | None:
        looks = visit.tried.probes
        if looks >= MAX_WAITS:
            return None
        visit.tried.probes += 1
        found = await self._gate.judge([Candidate(probe, Hop.GUESS, Kind.PROBE, referrer=visit.url)])
        now = self._io.clock.now()
        return Deferral(
            visit.lease, now, now + max(self._gate.limits.pacing.delay, 1.0) * 2**looks, found=found
        )


def probe_urls(url: str) -> tuple[str, ...]:
    """At the root, and in the URL's first folder if it is in one. Always the same, so that each is requested
    once; no site has a page there."""
    site = origin(url)
    name = f"sumi-probe-{blake2b(site.encode(), digest_size=8).hexdigest()}"
    folder, slash, _ = split(url).path[1:].partition("/")
    root = f"{site}/{name}"
    return (root, f"{site}/{folder}/{name}") if slash and folder else (root,)


def _resembles(record: UrlRecord, simhash: int) -> bool:
    """False if the host answered the probe with 404: then a page about missing pages is content."""
    known = record.facts.simhash
    return known is not None and (int(known, 16) ^ simhash).bit_count() <= SIMILAR_BITS


def probed(status: int | None, digest: PageDigest | None) -> tuple[Verdict, str | None]:
    """The verdict on a probe, and the hash to record; None if the host showed no page."""
    seen = digest.simhash if digest is not None else None
    what = "shows a page for any URL" if seen is not None else "reports missing pages"
    verdict = Verdict(Outcome.PROBED, f"HTTP {status}: the host {what}" if status else "no answer")
    return verdict, None if seen is None else f"{seen:016x}"
