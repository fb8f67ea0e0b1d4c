"""Where a crawl begins: a text file, one URL a line; blank lines and lines that start with # do not count."""

import time
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Final

from sumi.errors import ConfigError, UsageError, without_passwords
from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.config_file import load_crawl_config
from sumi.scope.profiles import ProfileName
from sumi.urls import Spelled, crawl_rules, spelled

MAX_SEEDS_BYTES: Final = 64 * 1024 * 1024

_HEAD: Final = "# Start URLs, one per line. Lines that start with # are ignored.\n"
DEFAULT_SEEDS: Final = {
    ProfileName.GITHUB: f"{_HEAD}https://github.com/topics\nhttps://github.com/trending\n",
    ProfileName.GENERIC: f"{_HEAD}# https://docs.example.org/\n",
}


def load_seeds(path: Path, keep_query: tuple[str, ...] = ()) -> tuple[Spelled, ...]:
    """Each page once, as it was first written, in order. Raises UsageError, or ConfigError for bad lines."""
    rules = crawl_rules(keep_query)
    seeds: dict[str, Spelled] = {}
    violations: list[str] = []
    for number, line in enumerate(_text_of(path).splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        seed = spelled(text, rules)
        if seed is None:
            violations.append(
                f"{path}, line {number}: {without_passwords(text)[:80]!r} is not an http or https URL"
            )
        else:
            seeds.setdefault(seed.identity, seed)
    if violations:
        raise ConfigError(violations)
    if not seeds:
        raise UsageError(f"{path} has no URL in it; write one per line")
    return tuple(seeds.values())


def loaded(config: CrawlConfig | str | PathLike[str], run_id: str | None = None) -> CrawlConfig:
    """A configuration as it is, or read from its file for a run of this name, or of a new one."""
    if isinstance(config, CrawlConfig):
        return config
    return load_crawl_config(Path(config), run_id or new_run_id(time.time()))


def new_run_id(now: float) -> str:
    """The minute in which a run starts: ``2025-01-09T15-30Z``."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H-%MZ")


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_SEEDS_BYTES + 1)
        if len(raw) > MAX_SEEDS_BYTES:
            raise UsageError(
                f"{path} is larger than {MAX_SEEDS_BYTES >> 20} MiB, too large for a list of seeds"
            )
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"the seeds in {path} cannot be read: {error.strerror}; sumi workspace configure makes one"
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not valid UTF-8") from None
