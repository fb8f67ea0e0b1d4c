"""One budget of bytes for all bodies in flight: those being received, and those being digested.

While it is full, transfers that need more are paused, which does not count as a stall of their server. A body
larger than what is left still gets through: the oldest being received may exceed the budget once no other is
being digested, so the budget is never exceeded by more than one body. There is no deadlock: digestion never
waits for a transfer, and a transfer that makes no progress is ended by its own limits.

The first ``FREE`` bytes of each body are not counted and never wait: pages of usual size get through whatever
large ones do.
"""

import asyncio
from collections.abc import Callable

FREE = 64 * 1024


class BodyBudget:
    def __init__(self, most: int) -> None:
        self._most = most
        self.held = 0
        self._receiving: dict[Claim, None] = {}  # oldest first
        self._waiting: dict[Claim, Callable[[], None]] = {}
        self._received = 0  # bodies that are complete and being digested

    @property
    def is_full(self) -> bool:
        return self.held >= self._most

    def claim(self, *, urgent: bool = False) -> "Claim":
        """``urgent``: counted, but never waits, because a page being rendered waits for it."""
        return Claim(self, urgent)

    def has_room(self, claim: "Claim", count: int) -> bool:
        return self.held + count <= self._most or self.may_exceed(claim)

    def may_exceed(self, claim: "Claim") -> bool:
        return claim.urgent or (not self._received and next(iter(self._receiving), claim) is claim)

    def count(self, claim: "Claim", more: int) -> None:
        self._receiving[claim] = None
        self.held += more

    def wait(self, claim: "Claim", wake: Callable[[], None]) -> None:
        self._receiving[claim] = None
        self._waiting[claim] = wake

    def complete(self, claim: "Claim", more: int) -> None:
        self._receiving.pop(claim, None)
        self._received += 1
        self.held += more
        self._wake()

    def free(self, claim: "Claim", count: int, *, was_received: bool) -> None:
        self._receiving.pop(claim, None)
        self._waiting.pop(claim, None)
        self._received -= was_received
        self.held -= count
        self._wake()

    def _wake(self) -> None:
        for claim in tuple(self._waiting):
            if not self.is_full or self.may_exceed(claim):
                self._waiting.pop(claim)()


class Claim:
    """One body's share of the budget; released when it is garbage-collected at the latest."""

    __slots__ = ("_complete", "_counted", "_owner", "_released", "_size", "urgent")

    def __init__(self, owner: BodyBudget, urgent: bool) -> None:
        self._owner = owner
        self._size = 0
        self._counted = 0
        self._complete = False
        self._released = False
        self.urgent = urgent

    def take(self, count: int, wake: Callable[[], None]) -> bool:
        """Whether so many more bytes may be kept. If not, ``wake`` is called when it is worth another try."""
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
        """Wait until a body of any size may be decoded."""
        while self._owner.is_full and not self._owner.may_exceed(self):
            awake = asyncio.Event()
            self._owner.wait(self, awake.set)
            await awake.wait()

    def settle(self, size: int) -> "Claim | None":
        """The body is complete and decoded. None if it is too small to count."""
        counted = max(0, size - FREE)
        if not counted:
            self.release()
            return None
        self._complete = True
        self._owner.complete(self, counted - self._counted)
        self._counted = counted
        return self

    def release(self) -> None:
        """Idempotent."""
        if not self._released:
            self._released = True
            self._owner.free(self, self._counted, was_received=self._complete)

    @property
    def is_settled(self) -> bool:
        return self._complete

    def __del__(self) -> None:
        self.release()
