"""Cron expressions of a watch file: each is refused, or is due again and again, later each time."""

from fuzz.inputs import as_text
from sumi.watching.cron import parse_cron

_NOW = 1_800_000_000.0


def check(data: bytes) -> None:
    try:
        cron = parse_cron(as_text(data))
    except ValueError:
        return
    moment = _NOW
    for _ in range(3):
        due = cron.after(moment)
        assert due is not None
        assert due > moment
        moment = due
