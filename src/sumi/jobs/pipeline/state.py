"""The state of a crawler or scraper: which job it belongs to, where it is, and whether the configuration
matches."""

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
    job: str  # also the suffix of its flag files
    home: Path  # the workspace


async def note_role(ledger: Ledger, role: Role, state: Path) -> None:
    """The workspace is stored relative to the state, so that the workspace can be moved."""
    notes = {_ROLE_NOTE: role.job, _HOME_NOTE: _relative(role.home, state)}
    for name, value in notes.items():
        if await ledger.get_note(name) != value:
            await ledger.put_note(name, value)


async def load_role(ledger: Ledger, state: Path) -> Role | None:
    """None for the state of another kind of job."""
    job, home = await ledger.get_note(_ROLE_NOTE), await ledger.get_note(_HOME_NOTE)
    if job is None or home is None:
        return None
    return Role(job, _resolved(state, home))


def _relative(home: Path, state: Path) -> str:
    return os.path.relpath(home, state)


def _resolved(state: Path, home: str) -> Path:
    return Path(os.path.normpath(state / home))


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
