"""The state of a crawler or scraper: whose it is, where it is, and whether the configuration asks for it."""

import os.path
import shlex
from pathlib import Path
from typing import Final, NamedTuple

from sumi.errors import StateError
from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.workspace import default_places
from sumi.policy import StateBackend
from sumi.ports import Ledger
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
_ROLE_NOTE: Final = "pipeline.mode"
_HOME_NOTE: Final = "pipeline.home"


class Role(NamedTuple):
    job: str  # by which its flag files are called, too
    home: Path  # the workspace


async def note_role(ledger: Ledger, role: Role, state: Path) -> None:
    """The way home is noted relative to the state: a workspace may be moved as a whole."""
    notes = {_ROLE_NOTE: role.job, _HOME_NOTE: _way_home(role.home, state)}
    for name, value in notes.items():
        if await ledger.get_note(name) != value:
            await ledger.put_note(name, value)


async def load_role(ledger: Ledger, state: Path) -> Role | None:
    """None for state that is neither a crawler's nor a scraper's."""
    job, home = await ledger.get_note(_ROLE_NOTE), await ledger.get_note(_HOME_NOTE)
    if job is None or home is None:
        return None
    return Role(job, _home_of(state, home))


def _way_home(home: Path, state: Path) -> str:
    return os.path.relpath(home, state)


def _home_of(state: Path, way: str) -> Path:
    return Path(os.path.normpath(state / way))


# ── state that a changed configuration no longer finds: a job that began anew would do all again ─────────


def holds_state(folder: Path) -> bool:
    return (folder / FORMAT_NAME).is_file()


def scraper_state(config: CrawlConfig) -> Path:
    """Beside the crawler's. What is there is used, whatever the crawler's is kept in by now: a scraper that
    began anew would not know what it has done."""
    backend = config.frontier.backend
    suffix = "" if backend is None or backend is StateBackend.FILES else f".{backend}"
    names = dict.fromkeys((SCRAPER + suffix, *_NAMES))
    homes = (config.frontier.db_path, *default_places(config.workspace, "frontier.db_path"))
    places = [home.with_name(name) for home in homes for name in names]
    return next(filter(holds_state, places), places[0])


def refuse_another_frontier(config: CrawlConfig) -> None:
    """Raises StateError if the crawl's state is kept elsewhere, or in something else, than is asked for."""
    place, backend = config.frontier.db_path, config.frontier.backend
    if holds_state(place):
        kept_in = backend_to_use(place, None)
        if backend is not None and backend != kept_in:
            raise StateError(
                f"{place} is kept in {kept_in}, not {backend}: remove frontier.backend to continue with it, "
                f"or carry it over with `{_migration(place, Path('OTHER'), backend)}` and make OTHER your "
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
