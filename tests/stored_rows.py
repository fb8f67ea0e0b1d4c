"""Rows of an indexed store, as tests put them there."""

from sumi.state.database.rows import Row
from sumi.state.entries import State


def waiting_row(number: int, url: str, host: str, depth: int = 0) -> Row:
    """A page that was found by a link and never tried."""
    found = (number, url, host, "link", "page", depth, 0.0, 0, None)
    return Row(*found, State.WAITING.value, 0, "", None, None, "", None, "", 0)
