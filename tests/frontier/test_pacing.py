"""A host is never requested sooner than its delay, its Crawl-delay and its own pauses allow."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from sumi.frontier.pacing import MAX_FAILING, HostPace
from sumi.model import Kind
from sumi.policy import PacingPolicy

POLICY = PacingPolicy(delay=1.0, sitemap_delay=0.25)
seconds = st.floats(min_value=0, max_value=5, allow_nan=False)


def test_a_new_host_waits_as_if_just_asked() -> None:
    assert HostPace(100.0, POLICY).ready_at(POLICY) == 101.0


@given(st.lists(st.tuples(seconds, seconds), min_size=1, max_size=30), seconds)
def test_spacing_counts_from_when_the_server_had_the_request(
    exchanges: list[tuple[float, float]], crawl_delay: float
) -> None:
    pace = HostPace(0.0, POLICY)
    pace.crawl_delay = crawl_delay
    reached = None
    for dawdle, latency in exchanges:
        now = pace.ready_at(POLICY) + dawdle
        if reached is not None:
            assert now - reached >= max(POLICY.delay, crawl_delay) - 1e-9
        pace.leased(now, Kind.PAGE, POLICY)
        assert pace.ready_at(POLICY) == float("inf")
        reached = now + latency
        pace.answered(reached, latency, Kind.PAGE, POLICY)


def test_sitemaps_have_a_pace_of_their_own() -> None:
    pace = HostPace(0.0, POLICY)
    pace.leased(10.0, Kind.SITEMAP, POLICY)
    pace.answered(10.0, 0.0, Kind.SITEMAP, POLICY)
    assert pace.kind_at(Kind.SITEMAP, POLICY) == 10.25
    assert pace.kind_at(Kind.PAGE, POLICY) == 11.0


def test_a_turn_that_was_not_used_costs_nothing() -> None:
    pace = HostPace(0.0, POLICY)
    before = pace.ready_at(POLICY)
    pace.leased(50.0, Kind.PAGE, POLICY)
    pace.unused()
    assert pace.ready_at(POLICY) == before
    assert pace.budget_used == 0


def test_a_turn_is_not_given_back_while_another_one_counts_on_it() -> None:
    policy = PacingPolicy(delay=1.0, per_host=2)
    pace = HostPace(0.0, policy)
    pace.leased(1.0, Kind.PAGE, policy)
    pace.leased(2.0, Kind.PAGE, policy)
    pace.unused()
    assert pace.ready_at(policy) == 3.0
    pace.answered(2.5, 0.5, Kind.PAGE, policy)
    pace.leased(3.5, Kind.PAGE, policy)
    pace.unused()
    assert pace.ready_at(policy) == 3.5


def test_retry_after_is_obeyed_and_clamped() -> None:
    pace = HostPace(0.0, POLICY)
    pace.throttled(100.0, 503, 120.0, POLICY)
    assert pace.ready_at(POLICY) == 220.0
    assert pace.retry_at(POLICY, unasked_left=False) == 220.0
    assert pace.wait(POLICY, unasked_left=True) == (220.0, "answered 503 and asked for a pause")
    pace.throttled(100.0, 429, 1e9, POLICY)
    assert pace.ready_at(POLICY) == 100.0 + POLICY.max_hold


def test_a_pause_without_a_date_doubles_until_the_host_recovers() -> None:
    pace = HostPace(0.0, POLICY)
    pace.throttled(0.0, 429, None, POLICY)
    first = pace.hold_until
    assert pace.wait(POLICY, unasked_left=True) == (POLICY.rate_limited_hold, "answered 429")
    pace.throttled(first, 429, None, POLICY)
    assert pace.hold_until - first == 2 * first
    pace.succeeded()
    pace.hold_until = 0.0
    pace.throttled(0.0, 429, None, POLICY)
    assert pace.hold_until == first


def test_responses_already_under_way_do_not_double_a_pause() -> None:
    pace = HostPace(0.0, POLICY)
    for moment in (0.0, 0.1, 0.2):
        pace.throttled(moment, 429, None, POLICY)
    assert pace.hold_until == POLICY.rate_limited_hold


def test_a_pause_without_a_date_doubles_up_to_its_cap() -> None:
    policy = PacingPolicy(rate_limited_hold=0.5, longest_rate_limited_hold=8.0)
    pace, pauses = HostPace(0.0, policy), []
    for _ in range(7):
        before = pace.hold_until
        pace.throttled(before, 429, None, policy)
        pauses.append(pace.hold_until - before)
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


def failing(pace: HostPace, count: int, now: float = 0.0) -> None:
    for number in range(count):
        pace.failed(f"https://a.test/{number}", now, POLICY)


def test_the_circuit_opens_after_different_urls_failed_in_a_row_and_closes_on_one_success() -> None:
    pace = HostPace(0.0, POLICY)
    failing(pace, POLICY.circuit_failures - 1)
    assert pace.circuit_until == 0.0
    failing(pace, POLICY.circuit_failures)
    assert pace.ready_at(POLICY) == POLICY.circuit_hold
    assert pace.wait(POLICY, unasked_left=True) == (900.0, "failed for 10 different URLs in a row")
    pace.failed("https://a.test/trial", 1000.0, POLICY)  # after the pause: open again at once
    assert pace.circuit_until == 1000.0 + POLICY.circuit_hold
    pace.succeeded()
    pace.failed("https://a.test/after", 5000.0, POLICY)
    assert pace.circuit_until == 0.0


@given(st.integers(1, 50))
def test_one_url_that_always_fails_never_opens_the_circuit(tries: int) -> None:
    pace = HostPace(0.0, POLICY)
    for number in range(tries):
        pace.failed("https://a.test/", float(number), POLICY)
    assert pace.circuit_until == 0.0


def test_retries_do_not_wait_for_the_circuit_once_nothing_else_is_left() -> None:
    pace = HostPace(0.0, POLICY)
    failing(pace, POLICY.circuit_failures)
    assert pace.retry_at(POLICY, unasked_left=True) == POLICY.circuit_hold
    assert pace.retry_at(POLICY, unasked_left=False) == 1.0


def test_a_host_that_grows_slow_is_asked_less_often() -> None:
    pace = HostPace(0.0, POLICY)
    for _ in range(50):
        pace.answered(0.0, 0.2, Kind.PAGE, POLICY)
    assert pace.delay(Kind.PAGE, POLICY) == 1.0
    for _ in range(10):
        pace.answered(0.0, 4.0, Kind.PAGE, POLICY)
    slow = pace.delay(Kind.PAGE, POLICY)
    assert 2.0 < slow <= 10.0
    for _ in range(20):
        pace.answered(0.0, 0.2, Kind.PAGE, POLICY)
    assert pace.delay(Kind.PAGE, POLICY) == 1.0


def test_several_requests_at_once_only_where_the_policy_says_so() -> None:
    policy = PacingPolicy(delay=0.0, per_host=2)
    pace = HostPace(0.0, policy)
    pace.leased(0.0, Kind.PAGE, policy)
    assert pace.ready_at(policy) == 0.0
    pace.leased(0.0, Kind.PAGE, policy)
    assert pace.ready_at(policy) == float("inf")


def test_a_host_past_its_budget_is_never_ready() -> None:
    policy = PacingPolicy(host_budget=1)
    pace = HostPace(0.0, policy)
    pace.leased(1.0, Kind.PAGE, policy)
    pace.answered(1.0, 0.0, Kind.PAGE, policy)
    assert pace.ready_at(policy) == float("inf")


def test_a_host_that_stays_dead_over_several_pauses_is_given_up_until_it_answers() -> None:
    pace = HostPace(0.0, POLICY)
    failing(pace, POLICY.circuit_failures)
    for number in range(POLICY.circuit_openings):
        assert not pace.given_up(POLICY)
        pace.failed(f"https://a.test/trial/{number}", pace.circuit_until, POLICY)
    assert pace.given_up(POLICY)
    assert pace.ready_at(POLICY) == float("inf")
    assert pace.retry_at(POLICY, unasked_left=True) == 1.0
    pace.succeeded()
    assert not pace.given_up(POLICY)


def test_a_host_that_is_never_given_up_remembers_a_bounded_number_of_failing_urls() -> None:
    policy = msgspec.structs.replace(POLICY, circuit_openings=0)
    pace = HostPace(0.0, policy)
    for number in range(10 * MAX_FAILING):
        pace.failed(f"https://a.test/{number}", pace.circuit_until, policy)
    assert len(pace.failing) == MAX_FAILING
    opened = pace.circuit_until
    pace.failed("https://a.test/yet-another", opened, policy)
    assert pace.circuit_until == opened + policy.circuit_hold
