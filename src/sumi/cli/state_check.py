"""Everything that is wrong with a stored job, whichever it is: its state, and what it made."""

from pathlib import Path

from sumi.errors import StateDamaged
from sumi.jobs.mirror.check import mirror_findings
from sumi.jobs.pipeline.archive import archive_findings
from sumi.jobs.pipeline.state import load_role
from sumi.state.check import Finding
from sumi.state.folder import backend_of, open_snapshot
from sumi.state.journal.salvage import damages


async def check_state(state: Path, now: float, *, deep: bool) -> list[Finding]:
    """``deep`` also reads every page and compares its content with its hash."""
    if backend_of(state) == "files":
        found = [Finding(f"{line}: a damaged record", damaged=True) for line in damages(state)]
        if found:
            return found  # of the rest nothing can be said before that is mended
    try:
        store = open_snapshot(state, now)
    except StateDamaged as error:
        return [Finding(str(error), damaged=True)]
    try:
        role = await load_role(store, state)
        if role is not None:
            return [finding async for finding in archive_findings(role, store, deep=deep)]
        return [finding async for finding in mirror_findings(state.parent, store, deep=deep)]
    finally:
        await store.aclose()
