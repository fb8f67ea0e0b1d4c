"""Answers that are valid and unwelcome: error statuses, for ever or for the first few times."""

from email.utils import formatdate

from tests.site.wire import Asked, Handler, Reply, Reset, Script, page, table

STATUSES = (204, 400, 401, 403, 404, 407, 410, 418, 429, 451, 500, 502, 503, 504, 599)


def _always(status: int) -> Handler:
    def answer(asked: Asked) -> Reply:
        return Reply(status, page(f"Status {status}"))

    answer.__doc__ = f"Always {status}."
    return answer


def _mercy(asked: Asked, status: int, retry_after: str) -> Reply:
    if asked.earlier >= asked.number_or(1):
        return Reply(200, page("Patience rewarded"))
    return Reply(status, page("Not now"), headers=(("Retry-After", retry_after),))


def status_429_retry_after(asked: Asked) -> Reply:
    """429 with Retry-After (?seconds=1) the first N times, then a page."""
    return _mercy(asked, 429, asked.query.get("seconds", "1"))


def status_503_retry_after(asked: Asked) -> Reply:
    """503 with Retry-After (?seconds=1) the first N times, then a page."""
    return _mercy(asked, 503, asked.query.get("seconds", "1"))


def status_503_retry_after_date(asked: Asked) -> Reply:
    """503 with a Retry-After date (?at=seconds since 1970) the first N times, then a page."""
    return _mercy(asked, 503, formatdate(int(asked.query.get("at", "0")), usegmt=True))


def status_503_retry_after_nonsense(asked: Asked) -> Reply:
    """503 with a Retry-After that is neither seconds nor a date, the first N times, then a page."""
    return _mercy(asked, 503, "soon, -1, 99999999999999999999")


def flaky(asked: Asked) -> Reply:
    """503 without advice the first N times, then a page."""
    return Reply(503 if asked.earlier < asked.number_or(1) else 200, page("Flaky"))


def flaky_500_then_ok(asked: Asked) -> Reply:
    """500 the first N times, then a page."""
    return Reply(500 if asked.earlier < asked.number_or(1) else 200, page("Recovered"))


def flaky_reset(asked: Asked) -> Reply | Script:
    """A connection reset the first N times, then a page."""
    return iter((Reset(),)) if asked.earlier < asked.number_or(1) else Reply(200, page("Recovered"))


def not_modified_unasked(_asked: Asked) -> Reply:
    """304 to a request that had no condition."""
    return Reply(304)


ROUTES: dict[str, Handler] = {f"status-{status}": _always(status) for status in STATUSES} | table(
    status_429_retry_after,
    status_503_retry_after,
    status_503_retry_after_date,
    status_503_retry_after_nonsense,
    flaky,
    flaky_500_then_ok,
    flaky_reset,
    not_modified_unasked,
)
