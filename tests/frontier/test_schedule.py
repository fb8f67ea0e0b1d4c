"""The host that is overdue for longest is next; a host that is not due is never returned."""

from hypothesis import given
from hypothesis import strategies as st

from sumi.frontier.pacing import INFINITY
from sumi.frontier.schedule import HostSchedule
from sumi.model import Kind
from sumi.policy import PacingPolicy


def test_hosts_come_in_the_order_of_their_readiness() -> None:
    schedule = HostSchedule(PacingPolicy(delay=1.0), opened_at=0.0)
    for host, next_at in (("b", 5.0), ("a", 3.0), ("c", 9.0)):
        schedule.offer(host, next_at)
    assert schedule.take(5, 2.0) == []
    assert schedule.next_at() == 3.0
    assert schedule.take(1, 5.0) == ["a"]
    assert schedule.take(5, 5.0) == ["b"]
    assert schedule.take(5, 9.0) == ["c"]
    assert schedule.take(5, 9.0) == []


def test_a_withdrawn_host_is_forgotten_until_offered_again() -> None:
    schedule = HostSchedule(PacingPolicy(delay=0.0), opened_at=0.0)
    schedule.offer("a", 0.0)
    schedule.offer("a", INFINITY)
    assert schedule.take(1, 10.0) == []
    schedule.offer("a", 0.0)
    assert schedule.take(1, 10.0) == ["a"]


def test_a_host_that_is_offered_again_is_handed_out_once_and_keeps_its_place() -> None:
    schedule = HostSchedule(PacingPolicy(delay=0.0), opened_at=0.0)
    for host in ("a", "b", "a", "b", "a"):
        schedule.offer(host, 0.0)
    assert schedule.take(5, 0.0) == ["a", "b"]


def test_a_host_that_must_wait_longer_is_not_handed_out_by_what_was_said_before() -> None:
    schedule = HostSchedule(PacingPolicy(delay=0.0), opened_at=0.0)
    schedule.offer("a", 0.0)
    schedule.offer("a", 7.0)
    assert schedule.take(5, 6.0) == []
    assert schedule.take(5, 7.0) == ["a"]


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.floats(0, 3, allow_nan=False)), max_size=60))
def test_no_host_is_handed_out_before_its_time(steps: list[tuple[str, float]]) -> None:
    policy = PacingPolicy(delay=1.0)
    schedule = HostSchedule(policy, opened_at=0.0)
    now, last = 0.0, dict.fromkeys("abcde", 0.0)
    for host, step in steps:
        schedule.offer(host, schedule.pace(host).ready_at(policy))
        now += step
        for taken in schedule.take(2, now):
            assert now >= last[taken] + policy.delay
            last[taken] = now
            schedule.pace(taken).leased(now, Kind.PAGE, policy)
            schedule.pace(taken).answered(now, 0.0, Kind.PAGE, policy)
