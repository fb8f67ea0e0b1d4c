"""Keys whose bytes sort like their values, and rows as compact values."""

import struct
from functools import lru_cache
from typing import TypeAlias

import msgspec

from sumi.state.database.rows import Rank, Row
from sumi.urls import host_key

Packed: TypeAlias = bytes | memoryview  # LMDB's types allow both; we only ever get bytes

_SIGN = 1 << 63
_ALL = (1 << 64) - 1
_DOUBLE, _WORD = struct.Struct(">d"), struct.Struct(">Q")
_RANK = struct.Struct(">?QQQ")
_MOMENT = struct.Struct(">QQ")


class _UpToOutcome(msgspec.Struct, array_like=True, gc=False):
    """The first fields of a packed row; the rest is skipped."""

    url: str
    hop: str
    kind: str
    depth: int
    score: float
    redirects: int
    referrer: str | None
    state: int
    attempts: int
    address: str
    due: float | None
    outcome: str | None


class _UpToFacts(_UpToOutcome, array_like=True, gc=False):
    rule: msgspec.Raw
    at: float | None
    facts: msgspec.Raw


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list).decode
_decode_beginning = msgspec.msgpack.Decoder(_UpToOutcome).decode
_decode_up_to_facts = msgspec.msgpack.Decoder(_UpToFacts).decode
_NO_FACTS = frozenset(map(_encode, ("", "{}")))  # never settled; settled without facts


def pack_id(number: int) -> bytes:
    return _WORD.pack(number)


def unpack_id(packed: Packed) -> int:
    number: int = _WORD.unpack(packed)[0]
    return number


def pack_rank(rank: Rank) -> bytes:
    turn, depth, score, row_id = rank
    return _RANK.pack(turn, depth, _sortable(score), row_id)


def unpack_rank(packed: Packed) -> Rank:
    turn, depth, score, row_id = _RANK.unpack(packed)
    return turn, depth, _unsortable(score), row_id


def packed_id_of_rank(packed: Packed) -> Packed:
    """The packed id, which is the row's key."""
    return packed[-8:]


def pack_moment(when: float, row_id: int) -> bytes:
    return _MOMENT.pack(_sortable(when), row_id)


def unpack_moment(packed: Packed) -> tuple[float, int]:
    when, row_id = _MOMENT.unpack(packed)
    return _unsortable(when), row_id


def pack_row(row: Row) -> bytes:
    """Without its id, which is its key, and its host, which follows from the URL."""
    return _encode((row.url, *row[3:]))


def unpack_row(row_id: Packed, packed: Packed, host: str | None = None) -> Row:
    """``host``: if it is known already. Computing it from the URL takes as long as everything else here."""
    fields = _decode(packed)
    url = fields[0]
    fields[:1] = (unpack_id(row_id), url, host or host_key(url))
    return Row._make(fields)


def packed_outcome(packed: Packed) -> str | None:
    """Takes a fifth of the time of unpacking the row, for searches through a million rows."""
    return _decode_beginning(packed).outcome


def packed_kind(packed: Packed) -> str:
    return _decode_beginning(packed).kind


def waits_with_facts(packed: Packed) -> bool:
    beginning = _decode_up_to_facts(packed)
    return beginning.outcome is None and bytes(beginning.facts) not in _NO_FACTS


@lru_cache(maxsize=256)  # scores are few: most pages have the same
def _sortable(number: float) -> int:
    """IEEE doubles sort like integers once the negative ones are inverted."""
    bits: int = _WORD.unpack(_DOUBLE.pack(number + 0.0))[0]  # + 0.0: no negative zero
    return bits ^ _ALL if bits & _SIGN else bits | _SIGN


@lru_cache(maxsize=256)
def _unsortable(bits: int) -> float:
    number: float = _DOUBLE.unpack(_WORD.pack(bits ^ _SIGN if bits & _SIGN else bits ^ _ALL))[0]
    return number
