"""What a text is like, in a few bytes: a SimHash that near-duplicates share, and a bitmap of its words.

Sixty-four counters, one per bit of the hash, are the lanes of one large integer, so that a word is counted
by a single addition; the words of a site are few, and what each adds is remembered. Numbers and tokens that
mix letters with digits (dates, ids) are not words: they differ on every page of a trap.
"""

from hashlib import blake2b
from itertools import chain
from typing import Final
from zlib import crc32

VOCABULARY_BYTES: Final = 2048
_VOCABULARY_BITS: Final = 8 * VOCABULARY_BYTES

# Of a long text, its beginning, middle and end: they tell texts apart, at a few percent of what digesting a
# page costs. It is also little enough that no lane overflows.
_SAMPLE: Final = 768
_LANE_BITS: Final = 16
_LANES: Final = 64
_ALL_LANES: Final = (1 << (_LANE_BITS * _LANES)) - 1
_EACH_LANE: Final = sum(1 << (_LANE_BITS * lane) for lane in range(_LANES))
_HIGHEST_BIT: Final = 1 << (_LANE_BITS - 1)
_AS_DIGIT: Final = b"0" * 128 + b"1" * 128
_COUNT: Final = 1 << (_LANE_BITS * _LANES)  # one lane more counts the words themselves

_KEPT: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789") | frozenset(range(0x80, 0x100))
_SPACED: Final = bytes(b if b in _KEPT else 0x20 for b in bytes(range(256)).lower())
# Within a word or a number, rather than between two.
_DROPPED: Final = b".,'"
# Scripts without blanks come in runs as long as their sentences; pieces of four characters do for words.
_LONG: Final = 40
_PIECE: Final = 12

_SPREAD: Final = tuple(
    sum(1 << (_LANE_BITS * bit) for bit in range(8) if byte >> bit & 1) for byte in range(256)
)
_DIGITS: Final = b"0123456789"
_MOST_WORDS_KNOWN: Final = 30_000  # about 10 MB
_known: dict[bytes, int] = {}


def words_of(text: str) -> set[bytes]:
    """Distinct, in lower case, as UTF-8."""
    if len(text) > 3 * _SAMPLE:
        middle = (len(text) - _SAMPLE) // 2
        text = f"{text[:_SAMPLE]} {text[middle : middle + _SAMPLE]} {text[-_SAMPLE:]}"
    words = set(text.encode("utf-8", "replace").translate(_SPACED, _DROPPED).split())
    if max(map(len, words), default=0) > _LONG:
        runs = [word for word in words if len(word) > _LONG]
        words.difference_update(runs)
        words.update(chain.from_iterable(_pieces(run) for run in runs))
    return words


def simhash(words: set[bytes]) -> int | None:
    """64 bits, of which similar sets of words share most. None where there is no word."""
    _learn(words)
    total = sum(map(_known.__getitem__, words))
    count = total >> (_LANE_BITS * _LANES)
    if not count:
        return None
    # Each lane is raised so that its highest bit says whether more than half of the words voted for it.
    raised = (total & _ALL_LANES) + (_HIGHEST_BIT - count // 2 - 1) * _EACH_LANE
    ballot = raised.to_bytes(_LANES * 2, "big")[::2].translate(_AS_DIGIT)
    return int(ballot, 2)


def vocabulary(words: set[bytes]) -> bytes:
    """A bitmap with a bit for each word."""
    bitmap = bytearray(VOCABULARY_BYTES)
    _learn(words)
    for word in words:
        if _known[word]:
            bit = crc32(word) % _VOCABULARY_BITS
            bitmap[bit >> 3] |= 1 << (bit & 7)
    return bytes(bitmap)


def _learn(words: set[bytes]) -> None:
    if len(_known) > _MOST_WORDS_KNOWN:
        _known.clear()
    for word in words.difference(_known):
        _known[word] = _votes(word) if _is_word(word) else 0


def _is_word(token: bytes) -> bool:
    """Letters; or a number that is no year, day, hour or date (eight digits), but may be a measurement."""
    if token.isdigit():
        return len(token) > 4 and len(token) != 8
    return len(token) > 1 and (token.isalpha() or len(token.translate(None, _DIGITS)) == len(token))


def _pieces(run: bytes) -> list[bytes]:
    return [run[at : at + _PIECE] for at in range(0, len(run), _PIECE)]


def _votes(word: bytes) -> int:
    votes = _COUNT
    for place, byte in enumerate(blake2b(word, digest_size=_LANES // 8).digest()):
        votes += _SPREAD[byte] << (_LANE_BITS * 8 * place)
    return votes
