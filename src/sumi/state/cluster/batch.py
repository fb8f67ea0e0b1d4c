"""What a worker writes in one transaction, over the session that holds its locks: endings, URLs, mail,
totals."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import msgspec
from psycopg import AsyncConnection

from sumi.model import Candidate, PageFacts
from sumi.ports import Deferral, RobotsRecord
from sumi.state.cluster.keys import bucket_of, key_of
from sumi.state.entries import REFUSED, Entry, StoredHost

_URLS = """INSERT INTO sumi.url (job, key, host, url, hop, kind, depth, score, redirects, referrer,
    address, refused,
    rule, seq) SELECT %s, * FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::text[], %s::text[], %s::int[],
    %s::float8[], %s::int[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[])"""
_CHANGED = """UPDATE sumi.url u SET hop = x.hop, kind = x.kind, depth = x.depth, score = x.score,
    redirects = x.redirects, referrer = x.referrer, address = x.address, refused = x.refused, rule = x.rule
    FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::text[], %s::text[], %s::int[], %s::float8[],
    %s::int[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[])
    x (key, host, url, hop, kind, depth, score, redirects, referrer, address, refused, rule, seq)
    WHERE u.job = %s AND u.key = x.key"""
# Without facts of its own an ending keeps those of the one before.
_ENDINGS = """INSERT INTO sumi.ending (job, key, serial, what, at, outcome, rule, due, attempts, behind,
    address,
    settled_at, facts) SELECT %s, x.key, x.serial, x.what, x.at, x.outcome, x.rule, x.due, x.attempts,
    x.behind,
    x.address, x.settled_at, coalesce(x.facts, (SELECT e.facts FROM sumi.ending e WHERE e.job = %s AND
    e.key = x.key
    AND e.serial = x.serial - 1), '') FROM unnest(%s::uuid[], %s::int[], %s::text[], %s::float8[], %s::text[],
    %s::text[], %s::float8[], %s::int[], %s::bool[], %s::text[], %s::float8[], %s::text[])
    x (key, serial, what, at, outcome, rule, due, attempts, behind, address, settled_at, facts)"""
_AMENDED = """UPDATE sumi.ending e SET facts = x.facts FROM unnest(%s::uuid[], %s::int[], %s::text[])
    x (key, serial, facts) WHERE e.job = %s AND e.key = x.key AND e.serial = x.serial"""
_MAIL = "INSERT INTO sumi.mail (job, bucket, items) SELECT %s, * FROM unnest(%s::int[], %s::bytea[])"
_TAKEN_IN = """DELETE FROM sumi.mail m USING unnest(%s::int[], %s::bigint[]) x (bucket, id)
    WHERE m.job = %s AND m.bucket = x.bucket AND m.id = x.id"""
_HOSTS = """INSERT INTO sumi.host (job, host, bucket, crawl_delay, hold_until, hold_why) SELECT %s, * FROM
    unnest(%s::text[], %s::int[], %s::float8[], %s::float8[], %s::text[]) ON CONFLICT (job, bucket, host)
    DO UPDATE
    SET crawl_delay = excluded.crawl_delay, hold_until = excluded.hold_until, hold_why = excluded.hold_why"""
_ROBOTS = """INSERT INTO sumi.robots (job, origin, status, body, fetched_at, trouble) VALUES (%s, %s, %s,
    %s, %s, %s)
    ON CONFLICT (job, origin) DO UPDATE SET status = excluded.status, body = excluded.body,
    fetched_at = excluded.fetched_at, trouble = excluded.trouble"""
_NOTE = """INSERT INTO sumi.note (job, key, value) VALUES (%s, %s, %s)
    ON CONFLICT (job, key) DO UPDATE SET value = excluded.value"""
_LINKS = """INSERT INTO sumi.link (job, key, targets) SELECT %s, * FROM unnest(%s::uuid[], %s::bytea[])
    ON CONFLICT (job, key) DO UPDATE SET targets = excluded.targets"""
_SPENT = """INSERT INTO sumi.spent (job, host, bucket, requests, why) SELECT %s, * FROM unnest(%s::text[],
    %s::int[], %s::int[], %s::text[]) ON CONFLICT (job, bucket, host) DO UPDATE
    SET requests = excluded.requests, why = excluded.why"""
_OPEN = """UPDATE sumi.bucket b SET open = x.open FROM unnest(%s::int[], %s::bigint[]) x (id, open)
    WHERE b.job = %s AND b.id = x.id"""
_RETURNED = "UPDATE sumi.job SET pages_left = pages_left + %s WHERE id = %s"
_WORKER = (
    """UPDATE sumi.worker SET totals = %s::jsonb, pages_held = %s, stuck = %s, said = now() WHERE id = %s"""
)

_encode_facts = msgspec.json.Encoder().encode
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(list[Candidate]).decode
_unpack_links = msgspec.msgpack.Decoder(list[str]).decode


_MARK = "\ufdd0"  # stands for no character, so that nobody writes it
_ODD = re.compile(f"[\0{_MARK}\ud800-\udfff]")
_WRITTEN = re.compile(f"{_MARK}([0-9a-f]{{4}})")


def clean(text: str) -> str:
    """As PostgreSQL takes it, which knows neither NUL nor half a character; ``unclean`` brings them back."""
    if text.isascii() and "\0" not in text:
        return text
    return _ODD.sub(lambda found: f"{_MARK}{ord(found[0]):04x}", text)


def unclean(text: str) -> str:
    return _WRITTEN.sub(lambda found: chr(int(found[1], 16)), text) if _MARK in text else text


def url_row(entry: Entry) -> tuple[Any, ...]:
    c, refusal = entry.candidate, entry.verdict if entry.state is REFUSED else None
    return (
        key_of(entry.host, c.url),
        clean(entry.host),
        clean(c.url),
        c.hop.value,
        c.kind.value,
        c.depth,
        c.score,
        c.redirects,
        None if c.referrer is None else clean(c.referrer),
        clean(c.address),
        None if refusal is None else refusal.outcome.value,
        "" if refusal is None else clean(refusal.rule),
        entry.sequence,
    )


def ending_row(
    entry: Entry,
    what: str,
    at: float,
    facts: PageFacts | None,
    deferral: Deferral | None,
    offset: float,
) -> tuple[Any, ...]:
    """``offset``: from our clock to the server's."""
    verdict = entry.verdict if deferral is None else deferral.why
    due = 0.0 if deferral is None else max(deferral.not_before, 0.0)
    return (
        key_of(entry.host, entry.candidate.url),
        entry.latest,
        what,
        at + offset,
        "" if verdict is None else verdict.outcome.value,
        "" if verdict is None else clean(verdict.rule),
        due + offset if due else 0.0,
        entry.attempts,
        entry.behind,
        clean(entry.candidate.address),
        None if entry.at is None else entry.at + offset,
        None if facts is None else facts_text(facts),
    )


def amended_row(entry: Entry, facts: PageFacts) -> tuple[Any, ...]:
    return key_of(entry.host, entry.candidate.url), entry.latest, facts_text(facts)


def facts_text(facts: PageFacts) -> str:
    return clean(_encode_facts(facts).decode())


class Batch:
    def __init__(self) -> None:
        self.urls: list[tuple[Any, ...]] = []
        self.changed: dict[UUID, tuple[Any, ...]] = {}
        self.endings: list[tuple[Any, ...]] = []
        self.amended: dict[UUID, tuple[Any, ...]] = {}
        self.mail: dict[int, list[Candidate]] = {}
        self.taken_in: list[tuple[int, int]] = []
        self.hosts: set[str] = set()
        self.robots: dict[str, RobotsRecord] = {}
        self.notes: dict[str, str] = {}
        self.links: dict[UUID, bytes] = {}  # of a map's page
        self.spent: dict[str, tuple[int, str]] = {}  # of a map's host: requests, and why it asks no more
        self.open: dict[int, int] = {}  # of buckets that became busy or idle
        self.returned = 0  # pages of the limit that were reserved and are not needed
        self.done: dict[str, None] = {}  # URLs with which there is nothing more to do, once this is written
        self.was_lost = False
        self.due = asyncio.Event()  # it is not worth while to wait for more

    @property
    def is_empty(self) -> bool:
        return not (
            self.urls
            or self.changed
            or self.endings
            or self.amended
            or self.mail
            or self.taken_in
            or self.hosts
            or self.robots
            or self.notes
            or self.links
            or self.spent
            or self.open
        )

    @property
    def may_open(self) -> bool:
        """Whether there may be more to do because of it."""
        return bool(self.urls or self.changed or self.endings or self.mail or self.taken_in)

    def send(self, host: str, candidate: Candidate) -> None:
        self.mail.setdefault(bucket_of(host), []).append(candidate)

    def statements(
        self, job: int, hosts: Sequence[StoredHost], offset: float
    ) -> Iterable[tuple[str, Sequence[Any]]]:
        """``offset``: from our clock to the server's."""
        if self.urls:
            yield _URLS, (job, *_columns(self.urls))
        if self.changed:
            yield _CHANGED, (*_columns(list(self.changed.values())), job)
        if self.endings:
            yield _ENDINGS, (job, job, *_columns(self.endings))
        if self.amended:
            yield _AMENDED, (*_columns(list(self.amended.values())), job)
        if self.mail:
            yield _MAIL, (job, list(self.mail), [_pack(items) for items in self.mail.values()])
        if self.taken_in:
            yield _TAKEN_IN, (*_columns(self.taken_in), job)
        if self.returned:
            yield _RETURNED, (self.returned, job)
        if self.open:
            yield _OPEN, (list(self.open), list(self.open.values()), job)
        yield from self._of_a_map(job)
        yield from self._of_the_job(job, hosts, offset)

    def _of_a_map(self, job: int) -> Iterable[tuple[str, Sequence[Any]]]:
        if self.links:
            yield _LINKS, (job, list(self.links), list(self.links.values()))
        if self.spent:
            rows = [(clean(host), bucket_of(host), *row) for host, row in self.spent.items()]
            yield _SPENT, (job, *_columns(rows))

    def _of_the_job(
        self, job: int, hosts: Sequence[StoredHost], offset: float
    ) -> Iterable[tuple[str, Sequence[Any]]]:
        if hosts:
            rows = [
                (clean(h.host), bucket_of(h.host), h.crawl_delay, h.hold_until + offset, clean(h.hold_why))
                for h in hosts
            ]
            yield _HOSTS, (job, *_columns(rows))
        for robots in self.robots.values():
            fetched, trouble = robots.fetched_at + offset, clean(robots.trouble)
            yield _ROBOTS, (job, clean(robots.origin), robots.status, robots.body, fetched, trouble)
        for key, value in self.notes.items():
            yield _NOTE, (job, clean(key), clean(value))


class Standing(msgspec.Struct, frozen=True):
    """What a worker's row says of it."""

    totals: dict[str, int]
    pages_held: int
    stuck: int


async def write(
    connection: AsyncConnection[Any],
    statements: Iterable[tuple[str, Sequence[Any]]],
    worker: int,
    standing: Standing,
) -> None:
    """All or nothing, sent at once."""
    totals = msgspec.json.encode(standing.totals).decode()
    async with connection.pipeline(), connection.transaction():
        for text, values in statements:
            await connection.execute(text, values)
        await connection.execute(_WORKER, (totals, standing.pages_held, standing.stuck, worker))


def _columns(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]


def pack_links(targets: Sequence[str]) -> bytes:
    return _pack(targets)


def unpack_links(targets: bytes) -> list[str]:
    return _unpack_links(targets)


def unpack_mail(items: bytes) -> list[Candidate]:
    return _unpack(items)
