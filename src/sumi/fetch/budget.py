"""One budget of bytes for all bodies in flight: those that are coming, and those that are being read.

While it is full, whoever needs more waits, and its server is not blamed for that. A body larger than what is
left still gets through: the oldest that is coming may go beyond the budget once no other is being read, so
what is held never exceeds the budget by more than one body. Readers never wait for a transfer, and a transfer
that does not get on is ended by its own limits: somebody always moves.

The first ``FREE`` bytes of each are not counted and never wait: pages of usual size get through whatever
large ones are doing.
"""

import asyncio
from collections.abc import Callable

FREE = 64 * 1024


class BodyBudget:
    def __init__(self, most: int) -> None:
        self._most = most
        self.held = 0
        self._coming: dict[Claim, None] = {}  # oldest first
        self._waiting: dict[Claim, Callable[[], None]] = {}
        self._read = 0  # claims on bodies that came

    @property
    def is_full(self) -> bool:
        return self.held >= self._most

    def claim(self, *, urgent: bool = False) -> "Claim":
        """``urgent``: is counted and never waits, for a reader waits for it."""
        return Claim(self, urgent)

    def has_room(self, claim: "Claim", count: int) -> bool:
        return self.held + count <= self._most or self.may_exceed(claim)

    def may_exceed(self, claim: "Claim") -> bool:
        return claim.urgent or (not self._read and next(iter(self._coming), claim) is claim)

    def count(self, claim: "Claim", more: int) -> None:
        self._coming[claim] = None
        self.held += more

    def wait(self, claim: "Claim", wake: Callable[[], None]) -> None:
        self._coming[claim] = None
        self._waiting[claim] = wake

    def came(self, claim: "Claim", more: int) -> None:
        self._coming.pop(claim, None)
        self._read += 1
        self.held += more
        self._wake()

    def free(self, claim: "Claim", count: int, *, was_read: bool) -> None:
        self._coming.pop(claim, None)
        self._waiting.pop(claim, None)
        self._read -= was_read
        self.held -= count
        self._wake()

    def _wake(self) -> None:
        for claim in tuple(self._waiting):
            if not self.is_full or self.may_exceed(claim):
                self._waiting.pop(claim)()


class Claim:
    """On the budget, by one body. Goes with the last who holds it, if nobody lets go of it before."""

    __slots__ = ("_came", "_counted", "_let_go", "_owner", "_size", "urgent")

    def __init__(self, owner: BodyBudget, urgent: bool) -> None:
        self._owner = owner
        self._size = 0
        self._counted = 0
        self._came = False
        self._let_go = False
        self.urgent = urgent

    def take(self, count: int, wake: Callable[[], None]) -> bool:
        """Whether so many more bytes may be kept. If not, ``wake`` is called when to ask again."""
        size = self._size + count
        if size > FREE:
            more = size - FREE - self._counted
            if not self._owner.has_room(self, more):
                self._owner.wait(self, wake)
                return False
            self._owner.count(self, more)
            self._counted += more
        self._size = size
        return True

    async def room(self) -> None:
        """Returns when a body of any size may be made of what came."""
        while self._owner.is_full and not self._owner.may_exceed(self):
            awake = asyncio.Event()
            self._owner.wait(self, awake.set)
            await awake.wait()

    def settle(self, size: int) -> "Claim | None":
        """All has come, and is so large now. None where that is nothing to count."""
        counted = max(0, size - FREE)
        if not counted:
            self.release()
            return None
        self._came = True
        self._owner.came(self, counted - self._counted)
        self._counted = counted
        return self

    def release(self) -> None:
        """Idempotent."""
        if not self._let_go:
            self._let_go = True
            self._owner.free(self, self._counted, was_read=self._came)

    @property
    def has_come(self) -> bool:
        return self._came

    def __del__(self) -> None:
        self.release()
