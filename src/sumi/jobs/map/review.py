"""Domains that a map found and nobody has decided about, with the evidence; and the decisions of people.

Decisions are kept beside the configuration, in a file of their own to which lines are appended: who decided,
when and why. The last one about a domain counts, and the next run obeys it.
"""

import getpass
import os
import time
from collections.abc import Iterable, Sequence
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Final

import apsw
import msgspec

from sumi.errors import ConfigError, UsageError
from sumi.files.disk_errors import explained
from sumi.jobs.map.config import DomainEntry, MapConfig, load_undecided_config
from sumi.jobs.map.database import open_database
from sumi.scope.hosts import DomainClass, canonical_domain_pattern

EXAMPLES: Final = 3  # titles, and pages that link there
_MOST_BYTES: Final = 16 * 1024 * 1024


class Choice(StrEnum):
    IN = "in"  # chosen: explored like the domains of the configuration
    OUT = "out"  # never visited
    STUB = "stub"  # recorded, not visited
    UNDECIDED = "undecided"  # takes a decision back


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    domain: str
    choice: Choice
    who: str
    at: float
    why: str = ""
    seeds: tuple[str, ...] = ()  # of a chosen domain: where it begins


class Linking(msgspec.Struct, frozen=True):
    url: str
    title: str | None


class Undecided(msgspec.Struct, frozen=True):
    """A domain and what speaks for it; by weight: first how many domains link there, then how many pages."""

    domain: str
    from_domains: int
    from_pages: int
    pages: int  # known of it
    titles: tuple[str, ...]
    linked_from: tuple[Linking, ...]
    seed: str


_WEIGHTS = """
SELECT target.domain, count(DISTINCT source.domain), count(DISTINCT source.id),
    (SELECT count(*) FROM pages WHERE domain = target.domain),
    (SELECT url FROM pages WHERE domain = target.domain ORDER BY length(url), url LIMIT 1)
FROM links
JOIN pages AS target ON target.id = links.to_page_id
JOIN pages AS source ON source.id = links.from_page_id
LEFT JOIN vanished_links AS gone
    ON gone.from_page_id = links.from_page_id AND gone.to_page_id = links.to_page_id
WHERE source.domain <> target.domain AND gone.run IS NULL
GROUP BY target.domain ORDER BY 2 DESC, 3 DESC, 1
"""
_TITLES = "SELECT DISTINCT title FROM pages WHERE domain = ? AND title <> '' ORDER BY length(url) LIMIT ?"
_LINKING = """
SELECT DISTINCT source.url, source.title FROM links
JOIN pages AS target ON target.id = links.to_page_id
JOIN pages AS source ON source.id = links.from_page_id
WHERE target.domain = ?1 AND source.domain <> ?1 ORDER BY length(source.url), source.url LIMIT ?2
"""


def review_map(config: str | PathLike[str], top: int = 20) -> list[Undecided]:
    """The undecided domains of a map, by weight. ``config``: its TOML file."""
    chosen = load_map_with_decisions(_config_file(config))
    found: list[Undecided] = []
    with open_database(chosen.output.database_path) as db:
        for domain, domains, linking, pages, seed in db.execute(_WEIGHTS):
            if len(found) == top:
                break
            if chosen.classes.classify(domain) is DomainClass.DISCOVERED:
                found.append(Undecided(domain, domains, linking, pages, *_evidence(db, domain), seed))
    return found


def _evidence(db: apsw.Connection, domain: str) -> tuple[tuple[str, ...], tuple[Linking, ...]]:
    titles = tuple(title for (title,) in db.execute(_TITLES, (domain, EXAMPLES)))
    return titles, tuple(Linking(*row) for row in db.execute(_LINKING, (domain, EXAMPLES)))


def decide_map(
    config: str | PathLike[str], choices: Iterable[tuple[str, str]], why: str = "", who: str | None = None
) -> list[Decision]:
    """Record decisions, each a domain and ``in``, ``out``, ``stub`` or ``undecided``. Nothing is recorded if
    one of them is wrong."""
    path = _config_file(config)
    plain = load_undecided_config(path)
    person = who or _user()
    wanted = [_checked(plain, domain, choice) for domain, choice in choices]
    seeds = _seeds(plain, [domain for domain, choice in wanted if choice is Choice.IN])
    made = [
        Decision(domain, choice, person, time.time(), why, seeds.get(domain, ())) for domain, choice in wanted
    ]
    _append(decisions_file(path), made)
    return made


def decisions_file(config: Path) -> Path:
    return config.with_suffix(".decisions.jsonl")


def load_map_with_decisions(path: Path) -> MapConfig:
    """The configuration as a run obeys it: with what people decided since. The file itself wins."""
    config = load_undecided_config(path)
    last = {decision.domain: decision for decision in read_decisions(path)}
    fresh = [one for one in last.values() if config.classes.classify(one.domain.removeprefix("*.")) is _OPEN]

    def entries(choice: Choice) -> tuple[DomainEntry, ...]:
        return tuple(DomainEntry(one.domain, one.seeds) for one in fresh if one.choice is choice)

    return msgspec.structs.replace(
        config,
        quality=(*config.quality, *entries(Choice.IN)),
        blacklist=(*config.blacklist, *entries(Choice.OUT)),
        stub=(*config.stub, *entries(Choice.STUB)),
    )


_OPEN: Final = DomainClass.DISCOVERED


def read_decisions(config: Path) -> list[Decision]:
    """The oldest first. A last line that a kill cut off was not decided."""
    path = decisions_file(config)
    try:
        with path.open("rb") as file:
            lines = file.read(_MOST_BYTES).split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    made: list[Decision] = []
    wrong: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            made += [msgspec.json.decode(line, type=Decision)] if line.strip() else []
        except msgspec.MsgspecError as error:
            wrong.append(f"{path}, line {number}: no decision: {error}")
    if wrong:
        raise ConfigError(wrong)
    return made


def _checked(config: MapConfig, domain: str, choice: str) -> tuple[str, Choice]:
    try:
        made = Choice(choice)
    except ValueError:
        raise UsageError(f"{choice!r} is no decision: say {', '.join(Choice)}") from None
    pattern = canonical_domain_pattern(domain)
    if config.classes.classify(pattern.removeprefix("*.")) is not _OPEN:
        raise UsageError(f"{pattern} is decided in the configuration file: change it there")
    return pattern, made


def _seeds(config: MapConfig, domains: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Where a chosen domain begins: at its shortest address that the map knows."""
    found: dict[str, tuple[str, ...]] = {
        domain: (f"https://{domain.removeprefix('*.')}/",) for domain in domains
    }
    if domains and config.output.database_path.is_file():
        with open_database(config.output.database_path) as db:
            shortest = "SELECT url FROM pages WHERE domain = ? ORDER BY length(url), url LIMIT 1"
            for domain in domains:
                for (url,) in db.execute(shortest, (domain,)):
                    found[domain] = (url,)
    return found


def _append(path: Path, made: Sequence[Decision]) -> None:
    text = b"".join(msgspec.json.encode(one) + b"\n" for one in made)
    with explained(path):
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":  # cut off by a kill
                os.ftruncate(descriptor, os.pread(descriptor, size, 0).rfind(b"\n") + 1)
            os.write(descriptor, text)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _config_file(place: str | PathLike[str]) -> Path:
    path = Path(place)
    path = path / "map.toml" if path.is_dir() else path
    if path.suffix.lower() != ".toml":
        raise UsageError(f"{path} is no configuration: decisions are kept beside the .toml file of a map")
    return path


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
