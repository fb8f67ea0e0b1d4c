"""Times as the tables hold them."""

from datetime import UTC, datetime


def iso_time(at: float) -> str:
    """``2025-01-15T10:30:00.000Z``, whose order as text is the order in time."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
