"""What calls to a browser raise: Playwright's errors, and what event loops say of a driver that has died."""

from playwright.async_api import Error

FAILURES = (Error, OSError, RuntimeError)  # the last is uvloop's, for a pipe that nobody reads any more
_OF_THE_DEAD = ("crash", "has been closed", "connection closed", "disconnected", "handler is closed")


def words_of(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def tells_of_a_death(error: BaseException) -> bool:
    said = str(error).lower()
    return any(word in said for word in _OF_THE_DEAD)
