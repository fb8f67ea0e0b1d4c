"""Which folders and first files a crawl's workspace has, by default or by a configuration file."""

import os.path
from pathlib import Path

import msgspec

from sumi.scope.profiles import ProfileName
from sumi.settings.crawl_config import CrawlConfig
from sumi.settings.crawl_config_file import load_crawl_config
from sumi.settings.crawl_config_keys import KEYS
from sumi.settings.crawl_seeds import DEFAULT_SEEDS, new_run_id

# Keys whose path is a folder that others look into, be it empty. Of all others the folder above is made.
_FOLDERS = frozenset({"spool.dir", "store.root"})


class Layout(msgspec.Struct, frozen=True):
    workspace: Path
    folders: tuple[str, ...]  # relative to the workspace
    files: dict[str, str]  # what to write where nothing is yet


def default_layout(workspace: Path) -> Layout:
    paths = {key.dotted: key.default for key in KEYS if key.is_path}
    return _layout(Path(os.path.abspath(workspace)), paths, ProfileName.GITHUB)


def configured_layout(path: Path, now: float) -> Layout:
    config = load_crawl_config(path, new_run_id(now))
    return layout_of(config)


def layout_of(config: CrawlConfig) -> Layout:
    paths = {
        key.dotted: str(_value(config, key.section, key.name).relative_to(config.workspace))
        for key in KEYS
        if key.is_path
    }
    return _layout(config.workspace, paths, config.profile)


def _layout(workspace: Path, paths: dict[str, str], profile: ProfileName) -> Layout:
    folders = {path if key in _FOLDERS else os.path.dirname(path) for key, path in paths.items()}
    return Layout(workspace, tuple(sorted(folders - {""})), {paths["seeds_file"]: DEFAULT_SEEDS[profile]})


def _value(config: CrawlConfig, section: str, name: str) -> Path:
    value = getattr(getattr(config, section) if section else config, name)
    assert isinstance(value, Path)
    return value
