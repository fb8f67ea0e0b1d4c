"""Reading a job: its URLs, what became of them, robots.txt and notes. Changes nothing and needs no lock."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import psycopg
from psycopg import AsyncConnection
from psycopg.sql import SQL

from sumi.model import Candidate, Hop, Kind, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.ports import Attempt, RobotsRecord, UrlRecord
from sumi.state.cluster.batch import clean, unclean, unpack_links, unpack_mail
from sumi.state.cluster.keys import first_key, found_at, key_of, last_key
from sumi.state.cluster.session import Unreachable, connect, has_ended
from sumi.state.cluster.timing import Timing
from sumi.state.entries import StoredHost, StoredUrl
from sumi.state.hosts import is_foreign_sitemap
from sumi.state.memory import NO_FACTS
from sumi.urls import host_key

HEAD_ANSWERED = "head"  # what a URL's last ending says when only its HEAD was answered
AT_ONCE = 2000  # rows that are fetched together
PART = 500  # rows that are worked on without letting others have their turn
_STATE = """u.url, u.hop, u.kind, u.depth, u.score, u.redirects, u.referrer, coalesce(e.address,
    u.address), u.refused,
    u.rule, u.seq, coalesce(e.serial, 0), e.what, e.outcome, coalesce(e.rule, ''), coalesce(e.due, 0),
    coalesce(e.attempts, 0), coalesce(e.behind, false), e.settled_at"""
# The same for whoever opens buckets, which is done for a million URLs: what most of them do not have is null.
_OPENED = """u.url, u.hop, u.kind, u.depth, NULLIF(u.score, 0), NULLIF(u.redirects, 0), u.referrer,
    NULLIF(coalesce(e.address, u.address), ''), u.refused, NULLIF(u.rule, ''), u.seq, e.serial, e.what,
    e.outcome, NULLIF(e.rule, ''), NULLIF(e.due, 0), NULLIF(e.attempts, 0), e.behind, e.settled_at,
    NULLIF(e.facts <> '', false), u.host"""
_LAST = """LEFT JOIN LATERAL (SELECT * FROM sumi.ending x WHERE x.job = u.job AND x.key = u.key
    ORDER BY x.serial DESC LIMIT 1) e ON true"""
_OUTCOME = (
    "CASE WHEN u.refused IS NOT NULL THEN u.refused WHEN e.what = 'settled' THEN e.outcome ELSE 'pending' END"
)
_HISTORY = """(SELECT jsonb_agg(jsonb_build_array(h.at, h.outcome, h.rule) ORDER BY h.serial)::text FROM
    sumi.ending h
    WHERE h.job = u.job AND h.key = u.key AND h.what IN ('settled', 'failed'))"""

_decode_facts = msgspec.json.Decoder(PageFacts).decode
_decode_history = msgspec.json.Decoder(list[tuple[float, Outcome, str]]).decode


class Row(NamedTuple):
    url: str
    hop: str
    kind: str
    depth: int
    score: float
    redirects: int
    referrer: str | None
    address: str
    refused: str | None
    rule: str
    sequence: int
    serial: int
    what: str | None
    outcome: str | None
    ending_rule: str
    due: float
    attempts: int
    behind: bool
    settled_at: float | None
    facts: Any  # as text, or whether there are any

    def candidate(self) -> Candidate:
        hop, kind = _HOPS[self.hop], _KINDS[self.kind]
        referrer = None if self.referrer is None else unclean(self.referrer)
        url, address = unclean(self.url), unclean(self.address)
        return Candidate(url, hop, kind, self.depth, referrer, self.score, self.redirects, address)

    def verdict(self) -> Verdict | None:
        if self.refused is not None:
            return Verdict(_OUTCOMES[self.refused], unclean(self.rule))
        if self.what != "settled" or self.outcome is None:
            return None
        return Verdict(_OUTCOMES[self.outcome], unclean(self.ending_rule))

    def stored(
        self, offset: float, facts: PageFacts = NO_FACTS, history: Sequence[Attempt] = ()
    ) -> StoredUrl:
        """``offset``: from our clock to the server's."""
        candidate, verdict = self.candidate(), self.verdict()
        waits = verdict is None
        unasked_behind = self.what is None and is_foreign_sitemap(candidate, host_key(candidate.url))
        return StoredUrl(
            candidate=candidate,
            refused=self.refused is not None,
            verdict=verdict,
            at=None if self.settled_at is None else self.settled_at - offset,
            attempts=self.attempts,
            not_before=self.due - offset if waits and self.due else 0.0,
            behind=waits and (self.behind or unasked_behind),
            facts=facts,
            history=tuple(history),
        )

    def record(self, offset: float) -> UrlRecord:
        verdict, candidate = self.verdict(), self.candidate()
        return UrlRecord(
            url=candidate.url,
            hop=candidate.hop,
            kind=candidate.kind,
            depth=candidate.depth,
            referrer=candidate.referrer,
            outcome=Outcome.PENDING if verdict is None else verdict.outcome,
            rule="" if verdict is None else verdict.rule,
            at=None if self.settled_at is None else self.settled_at - offset,
            attempts=self.attempts,
            facts=_decode_facts(self.facts) if self.facts else NO_FACTS,
            address=candidate.address,
        )


# Looking up an enum member by its value is slow, and opening a bucket does it for every URL.
_HOPS = {hop.value: hop for hop in Hop}
_KINDS = {kind.value: kind for kind in Kind}
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


class Opened(NamedTuple):
    """A row as a worker reads it that opens a bucket."""

    url: str
    hop: str
    kind: str
    depth: int
    score: float | None
    redirects: int | None
    referrer: str | None
    address: str | None
    refused: str | None
    rule: str | None
    sequence: int
    serial: int | None
    what: str | None
    outcome: str | None
    ending_rule: str | None
    due: float | None
    attempts: int | None
    behind: bool | None
    settled_at: float | None
    has_facts: bool | None
    host: str

    @property
    def is_done(self) -> bool:
        return self.refused is not None or self.what == "settled"

    def candidate(self) -> Candidate:
        referrer = None if self.referrer is None else unclean(self.referrer)
        address = "" if self.address is None else unclean(self.address)
        return Candidate(
            unclean(self.url),
            _HOPS[self.hop],
            _KINDS[self.kind],
            self.depth,
            referrer,
            self.score or 0.0,
            self.redirects or 0,
            address,
        )

    def verdict(self) -> Verdict | None:
        if self.refused is not None:
            return Verdict(_OUTCOMES[self.refused], unclean(self.rule or ""))
        if self.what != "settled" or self.outcome is None:
            return None
        return Verdict(_OUTCOMES[self.outcome], unclean(self.ending_rule or ""))


class Letter(NamedTuple):
    bucket: int
    id: int
    items: list[Candidate]


class Reader:
    """Over sessions of its own, so that a long answer does not keep the owner's session from its word."""

    def __init__(self, address: str, job: int, timing: Timing, *, patient: bool = False) -> None:
        """``patient``: of a worker, which waits for a database that restarts."""
        self._patient = patient
        self._address = address
        self._job = job
        self._timing = timing
        self._shared: AsyncConnection[Any] | None = None
        self._turn = asyncio.Lock()
        self._robots_wanted: dict[str, asyncio.Future[RobotsRecord | None]] = {}
        self._robots_reading: asyncio.Task[None] | None = None
        self.offset = 0.0  # from our clock to the server's
        self.moment = ""  # of another session's transaction, of which records are to be

    async def close(self) -> None:
        if self._shared is not None:
            await self._shared.close()

    async def _ask(self, text: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Asked once more over a new session, if that one has ended."""
        had_session = False
        while True:
            try:
                async with self._turn:
                    had_session = self._shared is not None and not self._shared.closed
                    return await self._answer(text, values)
            except Unreachable:
                if not (self._patient or had_session):
                    raise
                if not had_session:
                    await asyncio.sleep(self._timing.rejoin)

    async def _answer(self, text: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        if self._shared is None or self._shared.closed:
            self._shared = await connect(self._address, self._timing)
        try:
            answer = await self._shared.execute(text, values)
            return await answer.fetchall()
        except psycopg.Error as error:
            if not has_ended(error):
                raise
            await self._shared.close()
            raise _unreachable(error) from None

    async def _stream(self, text: str, values: Sequence[Any]) -> AsyncGenerator[Any, None]:
        async with aclosing(self._parts(text, values)) as parts:
            async for rows in parts:
                for row in rows:
                    yield row

    async def _parts(self, text: str, values: Sequence[Any]) -> AsyncGenerator[list[tuple[Any, ...]], None]:
        connection = await connect(self._address, self._timing)
        try:
            async with connection.transaction(), connection.cursor(name="rows") as cursor:
                if self.moment:
                    await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                    await connection.execute(SQL("SET TRANSACTION SNAPSHOT {}").format(self.moment))
                await cursor.execute(text, values)
                while rows := await cursor.fetchmany(AT_ONCE):
                    yield rows
        except psycopg.Error as error:
            if not has_ended(error):
                raise
            raise _unreachable(error) from None
        finally:
            await connection.close()

    async def _ordered(self, text: str, values: Sequence[Any]) -> AsyncIterator[Any]:
        """Rows in an order that lasts: a worker goes on where it was when the database was restarted."""
        had = 0
        while True:
            try:
                async for row in self._stream(f"{text} OFFSET %s", (*values, had)):
                    had += 1
                    yield row
            except Unreachable:
                if not self._patient:
                    raise
                await asyncio.sleep(self._timing.rejoin)
            else:
                return

    # ── for the owner of buckets ───────────────────────────────────────────────────────────────────────

    async def urls_of(self, first: int, last: int) -> AsyncGenerator[list[Opened], None]:
        """Everything in these buckets, in small parts."""
        # One pass over both tables, instead of looking up the last ending of each URL.
        text = f"""SELECT {_OPENED} FROM sumi.url u LEFT JOIN
            (SELECT DISTINCT ON (key) * FROM sumi.ending WHERE job = %s AND key BETWEEN %s AND %s
            ORDER BY key DESC, serial DESC) e ON e.key = u.key
            WHERE u.job = %s AND u.key BETWEEN %s AND %s"""
        keys = (self._job, first_key(first), last_key(last))
        async with aclosing(self._parts(text, (*keys, *keys))) as parts:
            async for rows in parts:
                for start in range(0, len(rows), PART):
                    yield [Opened._make(row) for row in rows[start : start + PART]]

    async def urls_among(self, urls: Sequence[str]) -> list[Opened]:
        """Those of them that the database knows."""
        text = f"SELECT {_OPENED} FROM sumi.url u {_LAST} WHERE u.job = %s AND u.key = ANY(%s)"
        keys = [key_of(host_key(url), url) for url in urls]
        return [Opened._make(row) for row in await self._ask(text, (self._job, keys))]

    async def hosts_of(self, first: int, last: int) -> list[StoredHost]:
        rows = await self._ask(
            """SELECT host, crawl_delay, hold_until, hold_why FROM sumi.host
            WHERE job = %s AND bucket BETWEEN %s AND %s""",
            (self._job, first, last),
        )
        return [
            StoredHost(unclean(host), delay, until - self.offset, unclean(why))
            for host, delay, until, why in rows
        ]

    async def spent_of(self, first: int, last: int) -> list[tuple[str, int, str]]:
        """Hosts of a map in these buckets, their requests, and why they are asked no more."""
        rows = await self._ask(
            "SELECT host, requests, why FROM sumi.spent WHERE job = %s AND bucket BETWEEN %s AND %s",
            (self._job, first, last),
        )
        return [(unclean(host), requests, why) for host, requests, why in rows]

    async def links_of(self, keys: list[UUID]) -> dict[UUID, list[str]]:
        """Of pages of a map."""
        rows = await self._ask(
            "SELECT key, targets FROM sumi.link WHERE job = %s AND key = ANY(%s)", (self._job, keys)
        )
        return {key: unpack_links(targets) for key, targets in rows}

    async def mail_for(self, buckets: Iterable[int], most: int) -> list[Letter]:
        rows = await self._ask(
            """SELECT bucket, id, items FROM sumi.mail WHERE job = %s AND bucket = ANY(%s)
            ORDER BY bucket, id LIMIT %s""",
            (self._job, list(buckets), most),
        )
        return [Letter(bucket, number, unpack_mail(items)) for bucket, number, items in rows]

    # ── the ledger ─────────────────────────────────────────────────────────────────────────────────────

    async def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        wanted = "" if outcomes is None else f"AND {_OUTCOME} = ANY(%s)"
        values = [] if outcomes is None else [[outcome.value for outcome in outcomes]]
        text = f"""SELECT {_STATE}, e.facts FROM sumi.url u {_LAST} WHERE u.job = %s {wanted}
            ORDER BY u.seq, u.key"""
        async for row in self._ordered(text, (self._job, *values)):
            yield Row(*row).record(self.offset)

    async def waiting_again(self) -> AsyncIterator[UrlRecord]:
        text = f"""SELECT {_STATE}, e.facts FROM sumi.url u {_LAST} WHERE u.job = %s AND u.key IN
            (SELECT a.key FROM sumi.ending a WHERE a.job = %s AND a.what = 'again')
            AND u.refused IS NULL AND e.what <> 'settled' AND e.facts <> '' ORDER BY u.seq, u.key"""
        async for row in self._ordered(text, (self._job, self._job)):
            record = Row(*row).record(self.offset)
            if record.facts != NO_FACTS:
                yield record

    async def stored(self) -> AsyncIterator[StoredUrl]:
        text = f"SELECT {_STATE}, e.facts, {_HISTORY} FROM sumi.url u {_LAST} WHERE u.job = %s ORDER BY u.seq"
        async for *state, history in self._stream(text, (self._job,)):
            yield self._stored(Row(*state), history)

    def _stored(self, row: Row, history: str | None) -> StoredUrl:
        tries = [
            Attempt(at - self.offset, outcome, unclean(rule))
            for at, outcome, rule in (_decode_history(history) if history else ())
        ]
        return row.stored(self.offset, _decode_facts(row.facts) if row.facts else NO_FACTS, tries)

    async def mapped(self) -> AsyncIterator[tuple[StoredUrl, float, bool]]:
        """The pages of a map as they were found: with when, and whether HEAD was answered."""
        text = f"SELECT {_STATE}, e.facts, {_HISTORY} FROM sumi.url u {_LAST} WHERE u.job = %s ORDER BY u.seq"
        async for *state, history in self._ordered(text, (self._job,)):
            row = Row(*state)
            yield self._stored(row, history), found_at(row.sequence) - self.offset, row.what == HEAD_ANSWERED

    async def all_links(self) -> AsyncIterator[tuple[str, list[str]]]:
        """Of a map: its pages with their links, in the order of their discovery."""
        text = """SELECT u.url, l.targets FROM sumi.link l JOIN sumi.url u ON u.job = l.job AND u.key = l.key
            WHERE l.job = %s ORDER BY u.seq"""
        async for url, targets in self._ordered(text, (self._job,)):
            yield unclean(url), unpack_links(targets)

    async def record(self, url: str) -> UrlRecord | None:
        rows = await self._ask(
            f"SELECT {_STATE}, e.facts FROM sumi.url u {_LAST} WHERE u.job = %s AND u.key = %s",
            (self._job, key_of(host_key(url), url)),
        )
        return Row(*rows[0]).record(self.offset) if rows else None

    async def history(self, url: str) -> list[Attempt]:
        rows = await self._ask(
            """SELECT at, outcome, rule FROM sumi.ending WHERE job = %s AND key = %s AND what IN
            ('settled', 'failed')
            ORDER BY serial""",
            (self._job, key_of(host_key(url), url)),
        )
        return [Attempt(at - self.offset, _OUTCOMES[outcome], unclean(rule)) for at, outcome, rule in rows]

    async def get_robots(self, origin: str) -> RobotsRecord | None:
        """Who asks while an answer is under way is answered with all the others by the next one."""
        wanted = self._robots_wanted.get(origin)
        if wanted is None:
            wanted = self._robots_wanted[origin] = asyncio.get_running_loop().create_future()
        if self._robots_reading is None:
            self._robots_reading = asyncio.create_task(self._read_robots())
        return await asyncio.shield(wanted)

    async def _read_robots(self) -> None:
        try:
            while self._robots_wanted:
                wanted, self._robots_wanted = self._robots_wanted, {}
                await self._answer_robots(wanted)
        finally:
            self._robots_reading = None

    async def _answer_robots(self, wanted: "dict[str, asyncio.Future[RobotsRecord | None]]") -> None:
        try:
            names = [clean(origin) for origin in wanted]
            rows = await self._ask(f"{_ROBOTS} AND origin = ANY(%s)", (self._job, names))
        except Exception as error:  # noqa: BLE001 - all who wait must get it
            for answer in wanted.values():
                answer.set_exception(error)
            return
        found = {record.origin: record for record in map(self._robots_record, rows)}
        for origin, answer in wanted.items():
            answer.set_result(found.get(origin))

    async def all_robots(self) -> list[RobotsRecord]:
        return [self._robots_record(row) for row in await self._ask(_ROBOTS, (self._job,))]

    def _robots_record(self, row: tuple[Any, ...]) -> RobotsRecord:
        origin, status, body, fetched_at, trouble = row
        return RobotsRecord(unclean(origin), status, bytes(body), fetched_at - self.offset, unclean(trouble))

    async def get_note(self, key: str) -> str | None:
        rows = await self._ask(
            "SELECT value FROM sumi.note WHERE job = %s AND key = %s", (self._job, clean(key))
        )
        return unclean(rows[0][0]) if rows else None

    async def all_notes(self) -> list[tuple[str, str]]:
        rows = await self._ask("SELECT key, value FROM sumi.note WHERE job = %s ORDER BY key", (self._job,))
        return [(unclean(key), unclean(value)) for key, value in rows]


class ClusterLedger:
    """The read side of a job: all of it, whoever owns which hosts."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        return self.reader.records(outcomes)

    def waiting_again(self) -> AsyncIterator[UrlRecord]:
        return self.reader.waiting_again()

    async def record(self, url: str) -> UrlRecord | None:
        return await self.reader.record(url)

    async def history(self, url: str) -> list[Attempt]:
        return await self.reader.history(url)

    async def get_robots(self, origin: str) -> RobotsRecord | None:
        return await self.reader.get_robots(origin)

    async def get_note(self, key: str) -> str | None:
        return await self.reader.get_note(key)


def _unreachable(error: psycopg.Error) -> Unreachable:
    return Unreachable(f"the database does not answer: {' '.join(str(error).split())}")


_ROBOTS = "SELECT origin, status, body, fetched_at, trouble FROM sumi.robots WHERE job = %s"
