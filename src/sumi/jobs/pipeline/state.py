"""The state of a crawler or scraper: where it is, and whether the configuration matches."""

import shlex
from pathlib import Path
from typing import Final

from sumi.errors import StateError
from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.workspace import default_places
from sumi.policy import StateBackend
from sumi.state.folder import FORMAT_NAME, backend_to_use

CRAWLER: Final = "crawler"
UNIFIED: Final = "unified"
SCRAPER: Final = "scraper"
BACKEND_SETTING: Final = "frontier.backend in the configuration"

RUN_NOTE: Final = "pipeline.run_id"
_NAMES: Final = (
    SCRAPER,
    *(f"{SCRAPER}.{backend}" for backend in StateBackend if backend is not StateBackend.FILES),
)


# ── refusing a changed configuration that no longer finds the state: a new one would repeat all work ─────


def holds_state(folder: Path) -> bool:
    return (folder / FORMAT_NAME).is_file()


def scraper_state(config: CrawlConfig) -> Path:
    """Beside the crawler's state. An existing state is used whatever the backend is now: a new one would not
    know what was done."""
    backend = config.frontier.backend
    suffix = "" if backend is None or backend is StateBackend.FILES else f".{backend}"
    names = dict.fromkeys((SCRAPER + suffix, *_NAMES))
    homes = (config.frontier.db_path, *default_places(config.workspace, "frontier.db_path"))
    places = [home.with_name(name) for home in homes for name in names]
    return next(filter(holds_state, places), places[0])


def require_configured_frontier(config: CrawlConfig) -> None:
    """Raises StateError if the crawl's state is elsewhere or in another backend than the configuration
    says."""
    place, backend = config.frontier.db_path, config.frontier.backend
    if holds_state(place):
        kept_in = backend_to_use(place, None)
        if backend is not None and backend != kept_in:
            raise StateError(
                f"{place} is kept in {kept_in}, not {backend}: remove frontier.backend to continue with it, "
                f"or copy it with `{_migration(place, Path('OTHER'), backend)}` and make OTHER your "
                "frontier.db_path"
            )
        return
    for other in default_places(config.workspace, "frontier.db_path"):
        if holds_state(other):
            command = _migration(other, place, backend or StateBackend.FILES)
            raise StateError(
                f"the state of this crawl is {other}, kept in {backend_to_use(other, None)}, but the "
                f"configuration asks for {place}, where there is none: copy it with `{command}`, or "
                "undo the change of frontier.backend"
            )


def require_configured_index(config: CrawlConfig) -> None:
    """Raises StateError if the page index is elsewhere than the configuration says."""
    place, backend = config.index.db_path, config.index.backend
    if place.exists():
        return
    for other in default_places(config.workspace, "index.db_path"):
        if other.exists():
            raise StateError(
                f"the page index of this archive is {other}, but the configuration asks for {place}, where "
                f"there is none: copy it with `{_migration(other, place, backend)}`, or undo the "
                "change of index.backend"
            )


def _migration(source: Path, target: Path, backend: str) -> str:
    return shlex.join(["sumi", "state", "migrate", str(source), str(target), "--to", str(backend)])
