"""Hosts are spread over the working proxies and stay with theirs; one that fails is rested."""

from hypothesis import given
from hypothesis import strategies as st

from sumi.fetch.route import ProxyRotation
from sumi.policy import Proxy, Secret

PROXIES = tuple(Proxy("http", f"proxy{number}.example", 3128) for number in range(3))
FIRST, SECOND, THIRD = PROXIES


class StoppedClock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    async def sleep_until(self, when: float) -> None:
        raise AssertionError("a proxy is never waited for")

    async def wait(self, event: object, until: float) -> None:
        raise AssertionError("a proxy is never waited for")


def test_hosts_take_turns_and_stay() -> None:
    rotation = ProxyRotation(PROXIES, StoppedClock())
    hosts = [f"{number}.example" for number in range(6)]
    chosen = [rotation.choose(host) for host in hosts]
    assert chosen == [*PROXIES, *PROXIES]
    assert [rotation.choose(host) for host in hosts] == chosen


def test_a_failure_moves_the_host_to_another_proxy() -> None:
    rotation = ProxyRotation(PROXIES, StoppedClock())
    assert rotation.choose("a.example") == FIRST
    rotation.report(FIRST, ok=False)
    assert rotation.choose("a.example") == SECOND


def test_three_failures_in_a_row_rest_a_proxy_for_a_minute_and_every_further_one_for_twice_as_long() -> None:
    clock = StoppedClock()
    rotation = ProxyRotation((FIRST, SECOND), clock)
    new_hosts = iter(f"{number}.example" for number in range(100))

    def in_use() -> set[Proxy]:
        return {rotation.choose(next(new_hosts)) for _ in range(4)}

    rotation.report(FIRST, ok=False)
    rotation.report(FIRST, ok=False)
    assert in_use() == {FIRST, SECOND}
    for rest in (60.0, 120.0, 240.0):
        rotation.report(FIRST, ok=False)
        clock.time += rest - 1
        assert in_use() == {SECOND}
        clock.time += 1
        assert in_use() == {FIRST, SECOND}


def test_a_success_forgives() -> None:
    clock = StoppedClock()
    rotation = ProxyRotation((FIRST, SECOND), clock)
    for _ in range(10):
        rotation.report(FIRST, ok=False)
        rotation.report(FIRST, ok=False)
        rotation.report(FIRST, ok=True)
    assert {rotation.choose("a.example"), rotation.choose("b.example")} == {FIRST, SECOND}


def test_if_all_rest_the_one_that_is_back_first_is_taken() -> None:
    clock = StoppedClock()
    rotation = ProxyRotation((FIRST, SECOND), clock)
    for proxy in (SECOND, FIRST):
        for _ in range(3):
            rotation.report(proxy, ok=False)
        clock.time += 10
    assert rotation.choose("a.example") == SECOND


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.floats(0, 100)), max_size=60))
def test_there_is_always_a_proxy(history: list[tuple[int, bool, float]]) -> None:
    clock = StoppedClock()
    rotation = ProxyRotation(PROXIES, clock)
    for number, ok, passed in history:
        rotation.report(PROXIES[number], ok=ok)
        clock.time += passed
        assert rotation.choose(f"{passed}.example") in PROXIES


def test_a_password_is_not_in_the_repr() -> None:
    proxy = Proxy("http", "proxy.example", 3128, Secret("someone"), Secret("hunter2"))
    assert "hunter2" not in f"{proxy!r} {proxy.url}"
    assert "someone" not in f"{proxy!r} {proxy.url}"
