"""All bodies in flight share one budget: it is exceeded by one body at most, and all get through."""

import random

from hypothesis import given
from hypothesis import strategies as st

from sumi.fetch.budget import FREE, BodyBudget, Claim

MOST = 1_000_000
CHUNK = 50_000


class Transfer:
    """Comes in chunks, grows when decoded, is read for a while, and may fail at any moment."""

    def __init__(self, budget: BodyBudget, size: int, grows: int, fails_at: int | None) -> None:
        self.claim: Claim | None = budget.claim()
        self.left = size
        self.decoded = size + grows
        self.asleep = False
        self._budget = budget
        self._fails_at = fails_at
        self._came = 0

    def wake(self) -> None:
        self.asleep = False

    def step(self) -> None:
        assert self.claim is not None
        if (self._fails_at is not None and self._came >= self._fails_at) or self.claim.is_settled:
            self.end()
        elif self.left:
            self._receive(self.claim)
        elif self._budget.is_full and not self._budget.may_exceed(self.claim):
            self.asleep = True
            self._budget.wait(self.claim, self.wake)
        elif self.claim.settle(self.decoded) is None:
            self.claim = None

    def _receive(self, claim: Claim) -> None:
        count = min(CHUNK, self.left)
        if claim.take(count, self.wake):
            self.left -= count
            self._came += count
        else:
            self.asleep = True

    def end(self) -> None:
        assert self.claim is not None
        self.claim.release()
        self.claim = None


sizes = st.integers(0, 3 * MOST)
transfers = st.tuples(sizes, st.one_of(st.just(0), sizes), st.one_of(st.none(), sizes))


@given(st.lists(transfers, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_held_bytes_are_bounded_and_every_body_gets_through(
    plan: list[tuple[int, int, int | None]], chance: random.Random
) -> None:
    budget = BodyBudget(MOST)
    going = [Transfer(budget, *one) for one in plan]
    largest = max(transfer.decoded for transfer in going)
    while going:
        awake = [transfer for transfer in going if not transfer.asleep]
        assert awake, "all wait for each other"
        chance.choice(awake).step()
        assert 0 <= budget.held <= MOST + largest
        going = [transfer for transfer in going if transfer.claim is not None]
    assert budget.held == 0


def test_small_bodies_never_wait_and_are_not_counted() -> None:
    budget = BodyBudget(MOST)
    large = budget.claim()
    assert large.take(MOST + FREE, _never)
    assert budget.is_full
    small = budget.claim()
    assert small.take(FREE, _never)
    assert small.settle(FREE) is None
    assert budget.held == MOST


def test_a_dropped_body_is_not_held() -> None:
    budget = BodyBudget(MOST)
    claim = budget.claim()
    assert claim.take(MOST, _never)
    assert claim.settle(MOST) is claim
    del claim
    assert budget.held == 0


def test_who_gave_up_waiting_is_not_woken() -> None:
    """It may be a transfer that has long ended, whose handle is another's by now."""
    budget = BodyBudget(MOST)
    large, waiting = budget.claim(), budget.claim()
    assert large.take(MOST + FREE, _never)
    assert not waiting.take(FREE + 1, _never)
    waiting.release()
    large.release()
    assert budget.held == 0


def _never() -> None:
    raise AssertionError("nothing waits here")
