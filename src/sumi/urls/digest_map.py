"""A map from digests to digests that a million pages can have in memory: 24 to 48 bytes each, not 200.

Eight bytes stand for a text. That any two of a million have the same is a matter of one in ten million, and
whoever uses this must be able to live with it.
"""

from array import array

_FIRST_SLOTS = 1024  # a power of two, always
_BYTES = 8
_LARGEST = 2**64 - 1


def digest_of(text: str) -> int:
    """Python's own, which is salted anew for every process: no site can choose names that have the same.
    Never 0, which marks a free slot."""
    return hash(text) & _LARGEST or 1


class DigestMap:
    """Open addressing: what has no place of its own is in the next free one."""

    __slots__ = ("_keys", "_mask", "_used", "_values")

    def __init__(self) -> None:
        self._make_room(_FIRST_SLOTS)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def get(self, key: int, default: int) -> int:
        slot = self._slot_of(key)
        return self._values[slot] if self._keys[slot] else default

    def setdefault(self, key: int, value: int) -> int:
        slot = self._slot_of(key)
        if self._keys[slot]:
            return self._values[slot]
        self._keys[slot], self._values[slot] = key, value
        self._used += 1
        if 3 * self._used > 2 * len(self._keys):
            self._grow()
        return value

    def _slot_of(self, key: int) -> int:
        keys, mask = self._keys, self._mask
        slot = key & mask
        while keys[slot] and keys[slot] != key:
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        keys, values = self._keys, self._values
        self._make_room(2 * len(keys))
        for key, value in zip(keys, values, strict=True):
            if key:
                slot = self._slot_of(key)
                self._keys[slot], self._values[slot] = key, value

    def _make_room(self, slots: int) -> None:
        self._mask = slots - 1
        self._keys = array("Q", bytes(_BYTES * slots))
        self._values = array("Q", bytes(_BYTES * slots))
