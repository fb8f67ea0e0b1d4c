"""Which failures are worth another try, and after how long."""

from sumi.outcomes import Outcome
from sumi.policy import RetryPolicy

# Trouble that passes. Everything else is an answer, and asking again would only be impolite.
TRANSIENT = frozenset(
    {
        Outcome.SERVER_ERROR,
        Outcome.RATE_LIMITED,
        Outcome.DNS_FAILED,
        Outcome.CONNECT_FAILED,
        Outcome.CONNECTION_LOST,
        Outcome.TIMED_OUT,
        Outcome.BAD_HTTP,
        Outcome.ROBOTS_UNREACHABLE,
        Outcome.CHALLENGE,
        Outcome.STALE,
        Outcome.RENDER_FAILED,
    }
)


# What the next run tries again: also what may be another matter with its flags (--allow-private, --ca-file).
WORTH_ANOTHER_RUN = TRANSIENT | {Outcome.ADDRESS_REFUSED, Outcome.TLS_FAILED}


def retry_delay(outcome: Outcome, attempt: int, policy: RetryPolicy, jitter: float) -> float | None:
    """Seconds to wait before attempt number ``attempt + 1``, or None to give up.

    Exponential, and up to half as long again (``jitter`` is uniform in [0, 1)), so that many pages that
    failed together do not come back together. Never sooner than the step itself, nor later than the longest.
    """
    if outcome not in (policy.only or TRANSIENT) or attempt >= policy.retries:
        return None
    if policy.steady:
        return policy.first_delay
    step: float = policy.first_delay * 2**attempt * (1 + jitter / 2)
    return min(step, policy.max_delay)
