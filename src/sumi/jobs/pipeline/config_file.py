"""Reads a crawl configuration from its YAML file, checks its values against each other, resolves its paths,
and reads the seeds file that it names."""

import os.path
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec

from sumi.errors import ConfigError, UsageError, without_passwords
from sumi.files.url_lists import UrlList
from sumi.jobs.pipeline.config import (
    CRAWL_SETTINGS,
    DEFAULT_WORKSPACE,
    PATHS,
    PATHS_BY_BACKEND,
    RUN_ID,
    RUN_ID_FIELD,
    CrawlConfig,
    PackingDictionary,
    path_pattern,
)
from sumi.scope.profiles import ProfileName
from sumi.settings.config_file import ConfigFile, Values, nested, yaml_file
from sumi.settings.kinds import complaint
from sumi.settings.setting import Setting
from sumi.urls import Spelled, crawl_rules, spelled
from sumi.urls.parts import split_authority

_GITHUB: Final = "github.com"
_PER_REPO: Final = ("caps.per_repo_max_pages", "caps.per_repo_max_issues", "caps.per_repo_max_prs")
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")


def load_crawl_config(config: CrawlConfig | str | PathLike[str], run_id: str | None = None) -> CrawlConfig:
    """Read a configuration from its YAML file; return one that has been read already as it is.

    ``run_id`` names the run unless the file does; the default is the current minute. Raises UsageError if the
    file cannot be read, ConfigError with everything that is wrong in it.
    """
    if isinstance(config, CrawlConfig):
        return config
    path, run_id = Path(config), run_id or new_run_id(time.time())
    if not RUN_ID.fullmatch(run_id):
        raise UsageError(f"the run id {run_id!r} must be letters, digits, dots and hyphens")
    file = yaml_file(path)
    values = file.read(CRAWL_SETTINGS, folder=path.parent)
    values.setdefault("run_id", run_id)
    values.setdefault("profile", ProfileName.GITHUB)
    if values["profile"] is ProfileName.GITHUB and not values.get("scope.allowed_hosts"):
        values["scope.allowed_hosts"] = (_GITHUB,)
    patterns = _resolve_paths(values, path.parent, file)
    for key, words in _contradictions(values):
        file.complain(words, at=key)
    file.refuse()
    return msgspec.convert({**nested(values), "patterns": patterns}, CrawlConfig)


def new_run_id(now: float) -> str:
    """The minute in which a run starts, such as ``2025-01-09T15-30Z``."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H-%MZ")


# ── paths ──────────────────────────────────────────────────────────────────────────────────────────────────


def _resolve_paths(values: Values, folder: Path, file: ConfigFile) -> dict[str, str]:
    """Makes the paths absolute; returns each as a glob pattern, by dotted key."""
    written = os.path.expanduser(values.get("workspace", DEFAULT_WORKSPACE))
    home = Path(os.path.abspath(folder / written))
    values["workspace"] = home
    patterns: dict[str, str] = {}
    for setting in PATHS:
        text = values.get(setting.path) or _default_path(setting, values)
        place = _resolved(setting.path, text, home, PurePosixPath(written), file)
        within = os.path.relpath(place, home)
        patterns[setting.path] = path_pattern(within)
        values[setting.path] = home / within.replace(RUN_ID_FIELD, values["run_id"])
    return patterns


def _resolved(key: str, text: str, home: Path, written: PurePosixPath, file: ConfigFile) -> Path:
    for name in _PLACEHOLDER.findall(text):
        if name != "run_id":
            file.complain(f"{key} has {{{name}}}, but only {{run_id}} is replaced", at=key)
    relative = PurePosixPath(text)
    if not written.is_absolute() and relative.is_relative_to(written):
        relative = relative.relative_to(written)  # "workspace/logs" means the same as "logs"
    place = Path(os.path.normpath(home / relative))
    if place == home or not place.is_relative_to(home):
        file.complain(complaint(key, text, f"a path within the workspace {home}"), at=key)
    return place


def _default_path(setting: Setting, values: Values) -> str:
    backend = values.get(f"{setting.section}.backend", "")
    return PATHS_BY_BACKEND.get(setting.path, {}).get(backend, str(setting.default))


# ── contradictions between values ──────────────────────────────────────────────────────────────────────────


def _contradictions(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Values, by dotted key, that are valid by themselves but not together: the key, and what to do."""
    if values["profile"] is ProfileName.GITHUB:
        yield from _foreign_hosts(values)
    else:
        yield from _repository_caps(values)
    base, cap = values.get("limits.backoff_base_ms"), values.get("limits.backoff_cap_ms")
    if base is not None and cap is not None and base > cap:
        yield (
            "limits.backoff_base_ms",
            f"limits.backoff_base_ms is more than limits.backoff_cap_ms, which is {cap}",
        )
    if values.get("store.dictionary") is PackingDictionary.AUTO and not values.get("store.compress"):
        yield (
            "store.dictionary",
            "store.dictionary is for compressed pages; add store.compress: true, or remove it",
        )
    yield from _shared_paths(values)


def _foreign_hosts(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for host in values["scope.allowed_hosts"]:
        if split_authority(host)[0] != _GITHUB:
            words = f"scope.allowed_hosts has {host}, but the profile github allows {_GITHUB} only"
            yield "scope.allowed_hosts", f"{words}; remove it, or choose profile: generic"


def _repository_caps(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in _PER_REPO:
        if values.get(key):
            yield key, f"{key} is for profile: github; other sites have no repositories to count"


def _shared_paths(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    users: dict[Path, list[str]] = defaultdict(list)
    for key, value in values.items():
        if isinstance(value, Path) and key != "workspace":
            users[value].append(key)
    for place, keys in users.items():
        if len(keys) > 1:
            yield keys[-1], f"{' and '.join(keys)} are both {place}; give each its own"


# ── the seeds ──────────────────────────────────────────────────────────────────────────────────────────────


MAX_SEEDS_BYTES: Final = 64 * 1024 * 1024


def load_seeds(path: Path, keep_query: tuple[str, ...] = ()) -> tuple[Spelled, ...]:
    """The URLs of the seeds file, in order and without duplicates: lines, without blank ones and comments, or
    any other list of URLs. Raises UsageError, or ConfigError for bad lines."""
    rules = crawl_rules(keep_query)
    listed = UrlList(path)
    if not listed.is_lines:
        known = (spelled(entry.url.target, rules) for entry in listed)
        return _some({seed.identity: seed for seed in known if seed is not None}, path)
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
    return _some(seeds, path)


def _some(seeds: dict[str, Spelled], path: Path) -> tuple[Spelled, ...]:
    if not seeds:
        raise UsageError(f"{path} has no URL in it; write one per line")
    return tuple(seeds.values())


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
            f"the seeds in {path} cannot be read: {error.strerror}; sumi workspace configure creates the file"
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not valid UTF-8") from None
