"""What a job records about itself in its store, for commands that inspect it."""

import os.path
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:  # ports load asyncio, which --help does not need
    from sumi.ports import Ledger

MIRROR_SETTINGS: Final = "mirror.settings"  # JSON; ``url`` is the mirror's first page
_ROLE_NOTE: Final = "pipeline.mode"
_HOME_NOTE: Final = "pipeline.home"


class Role(NamedTuple):
    """Which process of a crawl it is: the crawler, the scraper, or the one that is both."""

    job: str  # also the suffix of its flag files
    home: Path  # the workspace


async def note_role(ledger: "Ledger", role: Role, state: Path) -> None:
    """The workspace is stored relative to the state, so that the workspace can be moved."""
    notes = {_ROLE_NOTE: role.job, _HOME_NOTE: _relative(role.home, state)}
    for name, value in notes.items():
        if await ledger.get_note(name) != value:
            await ledger.put_note(name, value)


async def load_role(ledger: "Ledger", state: Path) -> Role | None:
    """None for the state of another kind of job."""
    job, home = await ledger.get_note(_ROLE_NOTE), await ledger.get_note(_HOME_NOTE)
    if job is None or home is None:
        return None
    return Role(job, _resolved(state, home))


def _relative(home: Path, state: Path) -> str:
    return os.path.relpath(home, state)


def _resolved(state: Path, home: str) -> Path:
    return Path(os.path.normpath(state / home))
