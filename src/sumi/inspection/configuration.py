"""The configuration file that a crawl or a map was made from: no job says where its own is."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Final

from sumi.catalogue.find import Job, JobKind
from sumi.errors import SumiError
from sumi.jobs.map.config import load_undecided_config
from sumi.jobs.pipeline.config_file import load_crawl_config

_MOST_FILES: Final = 50  # that are tried
_MOST_ENTRIES: Final = 10_000


def configuration_of(job: Job, *further: Path) -> Path | None:
    """Looked for in the job's folder, the one above it, and ``further`` ones."""
    is_map = job.kind is JobKind.MAP
    described: Callable[[Path], Path] = _database if is_map else _workspace
    wanted = (job.state if is_map else job.home).resolve()
    for path in _files((job.home, job.home.parent, *further), (".toml",) if is_map else (".yaml", ".yml")):
        try:
            if described(path).resolve() == wanted:
                return path
        except SumiError:
            continue
    return None


def _database(path: Path) -> Path:
    return load_undecided_config(path).output.database_path


def _workspace(path: Path) -> Path:
    return load_crawl_config(path).workspace


def _files(folders: tuple[Path, ...], suffixes: tuple[str, ...]) -> list[Path]:
    found = {
        path.resolve(): path
        for folder in folders
        for path in sorted(_entries(folder))
        if path.suffix in suffixes and path.is_file()
    }
    return list(found.values())[:_MOST_FILES]


def _entries(folder: Path) -> list[Path]:
    try:
        return list(islice(folder.iterdir(), _MOST_ENTRIES))
    except OSError:
        return []
