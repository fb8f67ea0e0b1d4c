"""A crawl configuration from its YAML file: what its values mean together, and where its paths lead."""

import os.path
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec

from sumi.errors import UsageError
from sumi.jobs.pipeline.config import CrawlConfig, PackingDictionary
from sumi.jobs.pipeline.config_table import (
    CRAWL_SETTINGS,
    DEFAULT_WORKSPACE,
    PATHS,
    PATHS_BY_BACKEND,
    RUN_ID,
    RUN_ID_FIELD,
    path_pattern,
)
from sumi.scope.profiles import ProfileName
from sumi.settings.config_file import ConfigFile, Values, nested, yaml_file
from sumi.settings.kinds import complaint
from sumi.settings.setting import Setting
from sumi.urls.parts import split_authority

_GITHUB: Final = "github.com"
_PER_REPO: Final = ("caps.per_repo_max_pages", "caps.per_repo_max_issues", "caps.per_repo_max_prs")
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")


def load_crawl_config(path: Path, run_id: str) -> CrawlConfig:
    """``run_id`` names this run unless the file does. Raises UsageError for a file that cannot be read,
    ConfigError with everything that is wrong in it."""
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


# ── paths ──────────────────────────────────────────────────────────────────────────────────────────────────


def _resolve_paths(values: Values, folder: Path, file: ConfigFile) -> dict[str, str]:
    """Makes them absolute; returns each as a pattern of a shell, by dotted key."""
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
        relative = relative.relative_to(written)  # "workspace/logs" for what "logs" says as well
    place = Path(os.path.normpath(home / relative))
    if place == home or not place.is_relative_to(home):
        file.complain(complaint(key, text, f"a path within the workspace {home}"), at=key)
    return place


def _default_path(setting: Setting, values: Values) -> str:
    backend = values.get(f"{setting.section}.backend", "")
    return PATHS_BY_BACKEND.get(setting.path, {}).get(backend, str(setting.default))


# ── what values mean together ──────────────────────────────────────────────────────────────────────────────


def _contradictions(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Between values, by dotted key, that are each valid by themselves: the key and what to do about it."""
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
