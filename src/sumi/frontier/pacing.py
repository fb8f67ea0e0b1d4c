"""How long a host is left alone: spacing, adaptive slow-down, Retry-After, and the circuit breaker."""

from sumi.model import ASSETS, Kind
from sumi.policy import PacingPolicy

INFINITY = float("inf")
PAGE = Kind.PAGE  # once: to name it by way of its class takes ten times as long, twice for every page
# A fast average follows the host as it is now, a slow one remembers what it is like when well.
NOW_WEIGHT = 0.3
USUAL_WEIGHT = 0.02
# Below this, latency differences are noise of our own machine and say nothing about the host.
LATENCY_FLOOR = 0.1
MAX_SLOWDOWN = 10.0
# What a host waits for that was asked as often as the user allows.
BUDGET_SPENT = "the run's request budget is spent"
# What a host waits for that stayed dead over several pauses: a run must come to an end.
GIVEN_UP = "it does not answer any more and is left alone for this run"
# What a host waits for that answered 429 or 503.
ASKED_FOR_A_PAUSE = "the server asked for a pause"
# What a host waits for that said "too many requests" to a job that takes no for an answer.
SUSPENDED = "it answered 429 and is left alone for this run"


class HostPace:
    """One host's politeness. Times are seconds since the epoch; ``inf``: not before something happens."""

    __slots__ = (
        "budget_used",
        "crawl_delay",
        "failures",
        "hold_until",
        "hold_why",
        "in_flight",
        "latency_now",
        "latency_usual",
        "next_at",
        "next_at_before",
        "openings",
        "throttles",
    )

    def __init__(self, opened_at: float, policy: PacingPolicy) -> None:
        # A run that was killed and restarted at once must not shorten the gap to its last request, whose
        # time nobody wrote down: every host starts as if it had just been asked.
        self.next_at = opened_at + policy.delay
        self.next_at_before = self.next_at
        self.in_flight = 0
        self.budget_used = 0
        self.crawl_delay = 0.0
        self.latency_now = 0.0
        self.latency_usual = 0.0
        self.failures = 0
        self.throttles = 0
        self.openings = 0  # pauses in a row after which it still did not answer
        self.hold_until = 0.0
        self.hold_why = ""

    def delay(self, kind: Kind, policy: PacingPolicy) -> float:
        """Seconds between requests, as things stand."""
        asked = policy.delay if kind is PAGE or kind in ASSETS else policy.manifest_delay
        delay = max(asked, self.crawl_delay)
        return delay if self.latency_now < LATENCY_FLOOR else delay * self._slowdown(policy)

    def ready_at(self, policy: PacingPolicy) -> float:
        if self.in_flight >= policy.per_host:
            return INFINITY
        # Asked two or three times for every page, and most hosts have neither a budget nor a failure.
        if (policy.host_budget and self.over_budget(policy)) or (self.openings and self.given_up(policy)):
            return INFINITY
        return max(self.next_at, self.hold_until)

    def over_budget(self, policy: PacingPolicy) -> bool:
        return bool(policy.host_budget) and self.budget_used >= policy.host_budget

    def given_up(self, policy: PacingPolicy) -> bool:
        """For this run: it stayed dead over several pauses. The next run asks it again."""
        return bool(policy.circuit_openings) and self.openings > policy.circuit_openings

    def leased(self, now: float, kind: Kind, policy: PacingPolicy) -> None:
        self.in_flight += 1
        self.budget_used += 1
        self.next_at_before = self.next_at
        self.next_at = now + self.delay(kind, policy)

    def unused(self) -> None:
        """The lease ended without a request: its turn is given back, unless others count on it by now."""
        self.in_flight -= 1
        self.budget_used -= 1
        if not self.in_flight:
            self.next_at = self.next_at_before

    def answered(self, reached: float, latency: float, kind: Kind, policy: PacingPolicy) -> None:
        """An exchange is over. Spacing counts from when the server had surely seen it, so that the server's
        own log shows the full gap."""
        self.in_flight -= 1
        self._learn_latency(latency)
        self.next_at = self.next_at_before = max(self.next_at, reached + self.delay(kind, policy))

    def succeeded(self) -> None:
        self.failures = 0
        self.openings = 0
        self.throttles = 0

    def throttled(self, now: float, retry_after: float | None, policy: PacingPolicy) -> None:
        """429 or 503: the host asked for a pause, or gets one that doubles."""
        pause = retry_after if retry_after is not None else policy.rate_limited_hold * 2**self.throttles
        self.throttles = min(self.throttles + 1, 16)
        self.hold(now + min(max(pause, 0.0), policy.max_hold), ASKED_FOR_A_PAUSE)

    def failed(self, now: float, policy: PacingPolicy) -> None:
        self.failures += 1
        if policy.circuit_failures and self.failures >= policy.circuit_failures:
            # One less than the limit: after the pause a single success closes the circuit, a single
            # failure opens it again.
            self.failures = policy.circuit_failures - 1
            self.openings += 1
            self.hold(now + policy.circuit_hold, f"{policy.circuit_failures} failures in a row")

    def hold(self, until: float, why: str) -> None:
        if until > self.hold_until:
            self.hold_until = until
            self.hold_why = why

    def _learn_latency(self, latency: float) -> None:
        if not self.latency_usual:
            self.latency_now = self.latency_usual = latency
            return
        self.latency_now += NOW_WEIGHT * (latency - self.latency_now)
        self.latency_usual += USUAL_WEIGHT * (latency - self.latency_usual)

    def _slowdown(self, policy: PacingPolicy) -> float:
        """1 while the host answers as usual; grows with its latency once that is far above usual."""
        if not policy.slow_factor:
            return 1.0
        threshold = policy.slow_factor * max(self.latency_usual, LATENCY_FLOOR)
        return min(max(self.latency_now / threshold, 1.0), MAX_SLOWDOWN)
