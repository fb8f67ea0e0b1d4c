"""What the ledger of a crawler or scraper remembers of itself: which of them it is, and its workspace."""

import os.path
from pathlib import Path
from typing import Final, NamedTuple

from sumi.ports import Ledger

CRAWLER: Final = "crawler"
UNIFIED: Final = "unified"
SCRAPER: Final = "scraper"

_ROLE_NOTE: Final = "pipeline.mode"
_HOME_NOTE: Final = "pipeline.home"


class Role(NamedTuple):
    job: str  # by which its flag files are called, too
    home: Path  # the workspace


async def remember_role(ledger: Ledger, role: Role, state: Path) -> None:
    """The way home is noted relative to the state: a workspace may be moved as a whole."""
    notes = {_ROLE_NOTE: role.job, _HOME_NOTE: _way_home(role.home, state)}
    for name, value in notes.items():
        if await ledger.get_note(name) != value:
            await ledger.put_note(name, value)


async def recall_role(ledger: Ledger, state: Path) -> Role | None:
    """None for state that is neither a crawler's nor a scraper's."""
    job, home = await ledger.get_note(_ROLE_NOTE), await ledger.get_note(_HOME_NOTE)
    if job is None or home is None:
        return None
    return Role(job, _home_of(state, home))


def _way_home(home: Path, state: Path) -> str:
    return os.path.relpath(home, state)


def _home_of(state: Path, way: str) -> Path:
    return Path(os.path.normpath(state / way))
