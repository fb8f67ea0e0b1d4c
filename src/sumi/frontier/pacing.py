"""How long a host is left alone: spacing, adaptive slow-down, pauses it asked for, the circuit breaker.

``docs/concepts/politeness.md`` has the states of a host as a table; this is that table as code.

To add a reason to hold a host, name it below, call ``Frontier.hold_host(host, until, REASON)`` where it shows
(bot checks do in ``engine/soft_errors.py``, redirects of robots.txt in ``engine/robots_cache.py``, suspended
domains of a map in ``jobs/map/store/map_store.py``), and add a row to that table.
"""

from sumi.model import ASSETS, Kind
from sumi.policy import PacingPolicy

INFINITY = float("inf")
PAGE = Kind.PAGE  # hot path: a module constant is ten times as fast as an enum attribute
# A fast average follows the host as it is now, a slow one remembers its usual latency.
NOW_WEIGHT = 0.3
USUAL_WEIGHT = 0.02
# Below this, differences in latency are noise of our own machine.
LATENCY_FLOOR = 0.1
MAX_SLOWDOWN = 10.0
MAX_DOUBLINGS = 16
MAX_FAILING = 100  # failing URLs that are remembered for a host

# Why a host is held, worded to follow its name: "docs.example.org answered 429: left alone until …".
BOT_CHECK = "put up a bot check"
ROBOTS_USED_BY_ANOTHER = "uses the robots.txt of another host"
ROBOTS_ELSEWHERE = "has its robots.txt on another host"
BUDGET_SPENT = "has reached its request limit for this run"
GIVEN_UP = "no longer answers and is left alone for this run"
SUSPENDED = "answered 429 and is left alone for this run"  # in a map
# Not a hold: a request outside of the host's own turns is in flight (until infinity), or was until then.
BORROWED = "is asked for the robots.txt of another host"
# Nothing new is requested from these hosts in this run; retries may be.
NOT_IN_THIS_RUN = frozenset({BUDGET_SPENT, GIVEN_UP, SUSPENDED})

# The everyday waits of a host, which are no holds.
USUAL_WAITS = frozenset({"spacing", "in flight", "sitemaps first", "retry"})

_ANSWERED = "answered "
# Earlier versions wrote these into their states.
_PAUSE_BEFORE = "the server asked for a pause"
_CIRCUIT_BEFORE = " failures in a row"


def is_server_hold(why: str) -> bool:
    """Whether a stored hold is one that the server asked for."""
    return why.startswith(_ANSWERED) or why == _PAUSE_BEFORE


def is_circuit_hold(why: str) -> bool:
    """Whether a stored hold is one of the circuit breaker, as earlier versions stored them; today they end
    with the process."""
    return why.endswith(_CIRCUIT_BEFORE)


class HostPace:
    """One host's politeness. Times are seconds since the epoch; ``inf``: not before something happens."""

    __slots__ = (
        "asked_at",
        "asked_at_before",
        "borrowed",
        "budget_used",
        "circuit_until",
        "crawl_delay",
        "failing",
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
        # A run that is killed and restarted at once must not shorten the gap to its last request, whose time
        # was not stored: every host starts as if it had just been asked.
        self.asked_at = self.asked_at_before = opened_at
        self.next_at = self.next_at_before = opened_at + max(policy.delay, policy.sitemap_delay)
        self.in_flight = 0
        self.budget_used = 0
        self.crawl_delay = 0.0
        self.latency_now = 0.0
        self.latency_usual = 0.0
        self.failing: frozenset[str] = frozenset()  # different URLs in a row, without a success in between
        self.throttles = 0
        self.openings = 0  # how often the circuit has opened in a row
        self.circuit_until = 0.0  # holds only URLs that were never requested; not stored
        self.hold_until = 0.0  # holds every URL; stored
        self.hold_why = ""
        self.borrowed = False  # a request outside of its own turns is in flight

    def delay(self, kind: Kind, policy: PacingPolicy) -> float:
        """Seconds between requests, as of now."""
        asked = policy.delay if kind is PAGE or kind in ASSETS else policy.sitemap_delay
        delay = max(asked, self.crawl_delay)
        return delay if self.latency_now < LATENCY_FLOOR else delay * self._slowdown(policy)

    def ready_at(self, policy: PacingPolicy) -> float:
        """When a URL may be requested that never was."""
        if self.in_flight >= policy.per_host or self.borrowed:
            return INFINITY
        # Called two or three times for every page, and most hosts have neither a budget nor a failure.
        if (policy.host_budget and self.over_budget(policy)) or (self.openings and self.given_up(policy)):
            return INFINITY
        return max(self.next_at, self.hold_until, self.circuit_until)

    def retry_at(self, policy: PacingPolicy, *, unasked_left: bool) -> float:
        """When a URL may be requested that failed before.

        An open circuit protects URLs that were never requested. Once none of those is left, or none comes in
        this run, failing pages use up their retries and end instead of waiting.
        """
        if self.in_flight >= policy.per_host or self.borrowed or self.over_budget(policy):
            return INFINITY
        at = max(self.next_at, self.hold_until)
        return max(at, self.circuit_until) if unasked_left and not self.given_up(policy) else at

    def kind_at(self, kind: Kind, policy: PacingPolicy) -> float:
        """When this kind may follow the last request: with two rates, the gaps of both are kept."""
        if policy.delay == policy.sitemap_delay:
            return self.next_at
        return max(self.next_at, self.asked_at + self.delay(kind, policy))

    def over_budget(self, policy: PacingPolicy) -> bool:
        return bool(policy.host_budget) and self.budget_used >= policy.host_budget

    def given_up(self, policy: PacingPolicy) -> bool:
        """For this run: it stayed dead while the circuit opened several times. The next run tries again."""
        return bool(policy.circuit_openings) and self.openings > policy.circuit_openings

    def leased(self, now: float, kind: Kind, policy: PacingPolicy) -> None:
        self.in_flight += 1
        self.budget_used += 1
        self.asked_at_before, self.next_at_before = self.asked_at, self.next_at
        self.asked_at, self.next_at = now, now + self.delay(kind, policy)

    def unused(self) -> None:
        """The lease ended without a request: undo ``leased``, unless other leases began since."""
        self.in_flight -= 1
        self.budget_used -= 1
        if not self.in_flight:
            self.asked_at, self.next_at = self.asked_at_before, self.next_at_before

    def answered(self, reached: float, latency: float, kind: Kind, policy: PacingPolicy) -> None:
        """An exchange is over. Spacing counts from when the server had certainly seen the request, so that
        its own log shows the full gap."""
        self.in_flight -= 1
        self._learn_latency(latency)
        self.asked_at = self.asked_at_before = max(self.asked_at, reached)
        self.next_at = self.next_at_before = max(self.next_at, reached + self.delay(kind, policy))

    def succeeded(self) -> None:
        if self.failing:
            self.failing = frozenset()
        self.openings = 0
        self.circuit_until = 0.0
        self.throttles = 0

    def throttled(self, now: float, status: int, retry_after: float | None, policy: PacingPolicy) -> None:
        """It asked for a pause: as long as it says, or one that doubles each time. Responses to requests that
        were already under way when the pause began do not extend it."""
        if retry_after is not None:
            why, pause = f"{_ANSWERED}{status} and asked for a pause", retry_after
        elif self.hold_until > now:
            return
        else:
            why = f"{_ANSWERED}{status}"
            pause = min(policy.rate_limited_hold * 2**self.throttles, policy.longest_rate_limited_hold)
            self.throttles = min(self.throttles + 1, MAX_DOUBLINGS)
        self.hold(now + min(max(pause, 0.0), policy.max_hold), why)

    def failed(self, url: str, now: float, policy: PacingPolicy) -> None:
        """Each URL counts once: one that fails at every try says no more about its host than at the first."""
        if url in self.failing or not policy.circuit_failures:
            return
        if len(self.failing) < max(MAX_FAILING, policy.circuit_failures):
            self.failing |= {url}
        if len(self.failing) >= policy.circuit_failures and now >= self.circuit_until:
            # After the hold a success closes the circuit, a failure of yet another URL opens it again.
            self.openings += 1
            self.circuit_until = now + policy.circuit_hold

    def hold(self, until: float, why: str) -> None:
        if why == BORROWED:
            self.borrowed = until == INFINITY
            if not self.borrowed:
                self.next_at = self.next_at_before = max(self.next_at, until)
        elif until > self.hold_until:
            self.hold_until = until
            self.hold_why = why

    def wait(self, policy: PacingPolicy, *, unasked_left: bool) -> tuple[float, str]:
        """Until when the latest hold lasts, which may be over, and why."""
        if unasked_left and self.circuit_until > self.hold_until:
            return self.circuit_until, f"failed for {policy.circuit_failures} different URLs in a row"
        return self.hold_until, self.hold_why

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
