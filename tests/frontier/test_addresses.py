"""Hosts on one address are asked as one host would be, and none comes for nothing often."""

import heapq
import random
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from sumi.frontier.addresses import AddressPaces, Place

ADDRESS = "192.0.2.7"


class Server(NamedTuple):
    """What the address saw, in simulated time."""

    arrivals: list[tuple[float, str]]
    visits: int  # how often a host came to ask for a place


def crawl(hosts: int, pages: int, places: int, delay: float, longest: float, seed: int) -> Server:
    """Each host has its own pace, as the frontier keeps it, and comes back when it is told to."""
    chance, paces = random.Random(seed), AddressPaces(places)
    events: list[tuple[float, int, str, tuple[Place, float] | None]] = []
    left = {f"host{number}.example": pages for number in range(hosts)}
    for number, host in enumerate(left):
        heapq.heappush(events, (chance.random() * delay, number, host, None))
    count, visits = hosts, 0
    arrivals: list[tuple[float, str]] = []
    while events:
        now, _, host, ended = heapq.heappop(events)
        count += 1
        if ended is not None:
            place, reached = ended
            paces.leave(place, reached, delay)
            if left[host]:
                heapq.heappush(events, (max(now, reached + delay), count, host, None))
            continue
        visits += 1
        found = paces.free(ADDRESS, host, now, delay)
        if isinstance(found, float):
            assert found > now
            heapq.heappush(events, (found, count, host, None))
            continue
        place = chance.choice(found)
        paces.take(place, host, now)
        left[host] -= 1
        reached = now + chance.random() * longest
        arrivals.append((now + chance.random() * (reached - now), host))
        heapq.heappush(events, (reached, count, host, (place, reached)))
    return Server(sorted(arrivals), visits)


numbers = st.integers(min_value=1, max_value=12)


@given(numbers, st.integers(1, 8), st.integers(1, 4), st.floats(0.1, 5), st.floats(0, 20), st.integers())
def test_an_address_never_gets_more_than_its_places_within_a_delay(
    hosts: int, pages: int, places: int, delay: float, longest: float, seed: int
) -> None:
    arrivals = crawl(hosts, pages, places, delay, longest, seed).arrivals
    assert len(arrivals) == hosts * pages
    for (earlier, _), (later, _) in zip(arrivals, arrivals[places:], strict=False):
        assert later - earlier >= delay - 1e-6


@given(st.integers(1, 40), st.integers(1, 3), st.integers())
def test_every_place_is_used_and_every_host_has_its_turn(hosts: int, places: int, seed: int) -> None:
    """A server that answers fast: nearly a request in each delay, and few visits for nothing."""
    pages = 5
    server = crawl(hosts, pages, places, 1.0, 0.05, seed)
    fewest_seconds = max(hosts * pages / places, pages)
    assert server.arrivals[-1][0] <= 1.2 * fewest_seconds + 3
    assert server.visits <= 6 * hosts * pages + 10
    assert len(server.arrivals) == hosts * pages


def test_a_slow_server_is_not_asked_for_a_place_again_and_again() -> None:
    server = crawl(300, 1, 1, 0.5, 20.0, 1)
    assert server.visits <= 1.5 * server.arrivals[-1][0] / 0.5


def test_hosts_that_do_not_come_back_do_not_block_the_others() -> None:
    paces = AddressPaces(1)
    place = Place(ADDRESS, 0)
    assert paces.free(ADDRESS, "a.example", 100.0, 1.0) == [place]
    paces.take(place, "a.example", 100.0)
    assert isinstance(paces.free(ADDRESS, "gone.example", 100.1, 1.0), float)
    paces.leave(place, 100.2, 1.0)
    assert isinstance(paces.free(ADDRESS, "a.example", 101.3, 1.0), float)  # the other one is due
    assert paces.free(ADDRESS, "a.example", 104.0, 1.0) == [place]


def test_addresses_do_not_know_each_other_and_idle_ones_are_forgotten() -> None:
    paces = AddressPaces(1)
    for number in range(10_000):
        found = paces.free(f"address {number}", "a.example", float(number), 1.0)
        assert not isinstance(found, float)
        paces.take(found[0], "a.example", float(number))
        paces.leave(found[0], float(number), 1.0)
    assert len(paces._known) < 5000
