"""Which folders and files a crawl's workspace has, by default or by a configuration file."""

import os.path
from pathlib import Path
from typing import Final

import msgspec

from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.config_file import load_crawl_config
from sumi.jobs.pipeline.config_keys import KEYS, path_pattern
from sumi.jobs.pipeline.seeds import DEFAULT_SEEDS, new_run_id
from sumi.scope.profiles import ProfileName

# Keys whose path is a folder that others look into, be it empty. Of all others the folder above is made.
_FOLDERS = frozenset({"spool.dir", "store.root"})
_SEEDS: Final = "seeds_file"  # the one path that is the user's, not the job's
# What the job writes below a path, as patterns of a shell.
_DIGIT, _HEX = "[0-9]", "[0-9a-f]"
_SHARD = f"{_HEX * 2}/{_HEX * 2}"
_IN_SPOOL = (f"discoveries-{_DIGIT * 10}.jsonl",)  # others are of another program
_IN_ARCHIVE = (
    f"{_SHARD}/{_HEX * 4}*.html",
    f"{_SHARD}/{_HEX * 4}*.html.zst",
    f"{_SHARD}/.{_HEX * 4}*.html*.tmp",
    f"dictionaries/{_DIGIT}*-{_HEX}*.zdict",
    f"dictionaries/.{_DIGIT}*-{_HEX}*.zdict*.tmp",
)
_IN_INDEX = ("data.mdb", "lock.mdb")
_IN_STATE = (
    "format.json",
    "format.tmp",
    "lock",
    f"journal-{_DIGIT}*.log",
    "state.sqlite",
    "state.sqlite-*",
    "state.lmdb",
    "state.lmdb-lock",
)
# A state, what a kill left of copying it, and what a repair set aside.
_STATES = ("{}", "{}/moving", ".{}.unfinished", "{}-rebuilt", f"{{}}-damaged-{_DIGIT}*")
_SCRAPERS = ("scraper", "scraper.sqlite", "scraper.lmdb")


class Layout(msgspec.Struct, frozen=True):
    workspace: Path
    folders: tuple[str, ...]  # relative to the workspace
    written: tuple[str, ...]  # patterns of the files that the job writes
    kept: tuple[str, ...]  # files that are the user's
    files: dict[str, str]  # what to write where nothing is yet


def default_places(workspace: Path, dotted: str) -> tuple[Path, ...]:
    """Where something is kept by default, whichever backend it has."""
    key = next(key for key in KEYS if key.dotted == dotted)
    return tuple(workspace / path for path in (key.default, *(path for _, path in key.for_backend)))


def default_layout(workspace: Path) -> Layout:
    paths = {key.dotted: key.default for key in KEYS if key.is_path}
    patterns = {key: path_pattern(path) for key, path in paths.items()}
    return _layout(Path(os.path.abspath(workspace)), paths, patterns, ProfileName.GITHUB)


def configured_layout(path: Path, now: float) -> Layout:
    config = load_crawl_config(path, new_run_id(now))
    return layout_of(config)


def layout_of(config: CrawlConfig) -> Layout:
    paths = {
        key.dotted: str(_value(config, key.section, key.name).relative_to(config.workspace))
        for key in KEYS
        if key.is_path
    }
    return _layout(config.workspace, paths, config.patterns, config.profile)


def _layout(workspace: Path, paths: dict[str, str], patterns: dict[str, str], profile: ProfileName) -> Layout:
    own = {key: path for key, path in paths.items() if key != _SEEDS}
    folders = {path if key in _FOLDERS else os.path.dirname(path) for key, path in own.items()}
    written = {each for key in own for each in _written_at(key, patterns[key])}
    return Layout(
        workspace,
        tuple(sorted(folders - {""})),
        tuple(sorted(filter(_tells_apart, written))),
        (paths[_SEEDS],),
        {paths[_SEEDS]: DEFAULT_SEEDS[profile]},
    )


def _written_at(key: str, path: str) -> tuple[str, ...]:
    match key:
        case "spool.dir":
            return _below(path, _IN_SPOOL)
        case "store.root":
            return _below(path, _IN_ARCHIVE)
        case "frontier.db_path":
            return _states(path)
        case "index.db_path":
            return (*_file(path), *_below(path, _IN_INDEX))
    return _file(path)


def _file(path: str) -> tuple[str, ...]:
    """And what a kill left of writing it anew."""
    folder, name = os.path.split(path)
    return path, os.path.join(folder, f".{name}.tmp")


def _below(folder: str, patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{folder}/{pattern}" for pattern in patterns)


def _states(path: str) -> tuple[str, ...]:
    """The crawler's and, beside it, the scraper's."""
    folder, name = os.path.split(path)
    places = [os.path.join(folder, form.format(each)) for each in (name, *_SCRAPERS) for form in _STATES]
    return tuple(pattern for place in places for pattern in _below(place, _IN_STATE))


def _tells_apart(pattern: str) -> bool:
    """A path that is nothing but the run's name would fit everything beside it."""
    return os.path.basename(pattern).strip("*") != ""


def _value(config: CrawlConfig, section: str, name: str) -> Path:
    value = getattr(getattr(config, section) if section else config, name)
    assert isinstance(value, Path)
    return value
