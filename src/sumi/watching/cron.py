"""Cron expressions, as crontab(5) has them: five fields, or a name such as @daily. In the machine's
time zone."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NAMED: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_PART: Final = re.compile(r"(?:(\*)|(\w+)(?:-(\w+))?)(?:/(\d{1,3}))?", re.ASCII)
# 29 February on a given day of the week comes again after 40 years at most.
_FURTHEST_DAYS: Final = 41 * 366


class Cron(NamedTuple):
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]  # 0 is Sunday
    either_day: bool  # both kinds of day are restricted: either is enough

    def includes(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        by_date, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_date or by_week if self.either_day else by_date and by_week

    def after(self, moment: float) -> float | None:
        """The next time, in seconds since the epoch; None if there is none. A time that summer time skips
        comes an hour later, and one that it repeats comes once."""
        first = datetime.fromtimestamp(moment, UTC).astimezone().date() - timedelta(days=1)
        for number in range(_FURTHEST_DAYS):
            day = first + timedelta(days=number)
            if self.includes(day):
                times = (self._at(day, hour, minute) for hour in self.hours for minute in self.minutes)
                later = [time for time in times if time > moment]
                if later:
                    return min(later)
        return None

    @staticmethod
    def _at(day: date, hour: int, minute: int) -> float:
        local = datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001 - the machine's time zone
        return local.timestamp()


def parse_cron(text: str) -> Cron:
    """Raises ValueError."""
    fields = _NAMED.get(text.strip().lower(), text).lower().split()
    if len(fields) != 5:
        raise ValueError(text)
    minutes, hours, days, months, weekdays = fields
    cron = Cron(
        tuple(sorted(_values(minutes, 0, 59))),
        tuple(sorted(_values(hours, 0, 23))),
        frozenset(_values(days, 1, 31)),
        frozenset(_values(months, 1, 12, _MONTHS, 1)),
        frozenset(day % 7 for day in _values(weekdays, 0, 7, _DAYS)),
        either_day=not (days.startswith("*") or weekdays.startswith("*")),
    )
    if cron.after(0.0) is None:  # such as 30 February
        raise ValueError(text)
    return cron


def _values(field: str, least: int, most: int, names: tuple[str, ...] = (), first: int = 0) -> set[int]:
    found: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(field)
        everything, begin, end, step = match.groups()
        low = least if everything else _number(begin, names, first)
        # "5/10" is every tenth from 5 on.
        high = most if everything or (step and not end) else _number(end or begin, names, first)
        if not least <= low <= high <= most or step == "0":
            raise ValueError(field)
        found.update(range(low, high + 1, int(step or 1)))
    return found


def _number(text: str, names: tuple[str, ...], first: int) -> int:
    return names.index(text) + first if text in names else int(text)
