"""State that a changed configuration no longer finds: a job that began anew beside it would do all again."""

import shlex
from pathlib import Path

from sumi.errors import StateError
from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.layout import default_places
from sumi.policy import StateBackend
from sumi.state.folder import FORMAT_NAME, backend_to_use


def holds_state(folder: Path) -> bool:
    return (folder / FORMAT_NAME).is_file()


def refuse_another_frontier(config: CrawlConfig) -> None:
    """Raises StateError if the crawl's state is kept elsewhere, or in something else, than is asked for."""
    place, backend = config.frontier.db_path, config.frontier.backend
    if holds_state(place):
        kept_in = backend_to_use(place, None)
        if backend is not None and backend != kept_in:
            raise StateError(
                f"{place} is kept in {kept_in}, not {backend}: take frontier.backend out to go on with it, "
                f"or carry it over with `{_migration(place, Path('OTHER'), backend)}` and make OTHER your "
                "frontier.db_path"
            )
        return
    for other in default_places(config.workspace, "frontier.db_path"):
        if holds_state(other):
            command = _migration(other, place, backend or StateBackend.FILES)
            raise StateError(
                f"the state of this crawl is {other}, kept in {backend_to_use(other, None)}, but the "
                f"configuration asks for {place}, where there is none: carry it over with `{command}`, or "
                "undo the change of frontier.backend"
            )


def refuse_another_index(config: CrawlConfig) -> None:
    """Raises StateError if there is a page index, and not the one that is asked for."""
    place, backend = config.index.db_path, config.index.backend
    if place.exists():
        return
    for other in default_places(config.workspace, "index.db_path"):
        if other.exists():
            raise StateError(
                f"the page index of this archive is {other}, but the configuration asks for {place}, where "
                f"there is none: carry it over with `{_migration(other, place, backend)}`, or undo the "
                "change of index.backend"
            )


def _migration(source: Path, target: Path, backend: str) -> str:
    return shlex.join(["sumi", "state", "migrate", str(source), str(target), "--to", str(backend)])
