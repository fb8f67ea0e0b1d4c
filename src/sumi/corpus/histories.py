"""The histories that a user means by a folder, and the versions that are meant by words."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sumi.catalogue.find import JobKind, find_jobs
from sumi.errors import UsageError
from sumi.history.recorder import FOLDER
from sumi.history.rows import Version
from sumi.history.store import DATABASE, History
from sumi.state.folder import CAPTURES

_AGO = re.compile(r"(\d{1,6})\s*([smhdwy])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}


class Site(NamedTuple):
    """A job with a history."""

    name: str  # of its folder
    home: Path
    history: Path


def sites_in(places: list[Path]) -> list[Site]:
    """At least one; UsageError if there is none."""
    found = [site for place in places for site in _sites(place)]
    if not found:
        where = ", ".join(str(place) for place in places)
        raise UsageError(
            f"{where} holds no history: give the --output folder of a mirror or the --captures folder; "
            "a run writes one unless it has --no-history"
        )
    return found


def _sites(place: Path) -> list[Site]:
    if (place / CAPTURES).is_file():
        homes = {place: place / FOLDER}
    else:
        mirrors = [job for job in find_jobs(place) if job.kind is JobKind.MIRROR]
        homes = {mirror.home: mirror.state / FOLDER for mirror in mirrors}
    return [
        Site(home.resolve().name, home, folder)
        for home, folder in homes.items()
        if (folder / DATABASE).is_file()
    ]


@contextmanager
def reading(site: Site) -> Iterator[History]:
    store = History(site.history)
    try:
        yield store
    finally:
        store.close()


def site_of(url: str, sites: list[Site]) -> tuple[Site, str]:
    """The one whose history has the page, and the URL as it is known there."""
    spellings = (url, f"{url}/", f"https://{url}", f"http://{url}", f"https://{url}/", f"http://{url}/")
    near: list[str] = []
    for site in sites:
        with reading(site) as store:
            for spelling in spellings:
                if store.head(spelling) is not None:
                    return site, spelling
            near += store.similar_urls(url)
    hint = f"; did you mean {near[0]}?" if near else "; sumi log lists the runs, and --since the changes"
    raise UsageError(f"no version of {url} is recorded{hint}")


def since_time(words: str, now: float | None = None) -> float:
    """``7d``, ``12h``, ``2w``, or a date such as 2026-01-31 or 2026-01-31T12:00, in UTC."""
    ago = _AGO.fullmatch(words.strip().lower())
    if ago:
        return (time.time() if now is None else now) - int(ago[1]) * _SECONDS[ago[2]]
    try:
        moment = datetime.fromisoformat(words.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise UsageError(
            f"{words!r} is no time: give an age such as 7d or 12h, or a date such as 2026-01-31"
        ) from None


def chosen(versions: list[Version], words: str) -> Version:
    """A version of a page by its number, or the one that was there at a time."""
    numbers = f"{versions[0].number} to {versions[-1].number}"
    if words.isascii() and words.isdigit() and len(words) < 10:
        for version in versions:
            if version.number == int(words):
                return version
        raise UsageError(f"{versions[0].url} has no version {words}: there are {numbers}")
    at = since_time(words)
    for version in reversed(versions):
        if version.at <= at:
            return version
    raise UsageError(f"{versions[0].url} was not known yet at {words}: its versions are {numbers}")
