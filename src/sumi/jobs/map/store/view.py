"""A map opened to be looked at: without the lock, changing nothing."""

from pathlib import Path

import msgspec

from sumi.frontier.pacing import BUDGET_SPENT, SUSPENDED
from sumi.jobs.map.store.rows import TerrainRows, domain_of
from sumi.jobs.map.store.runs import COMPLETED
from sumi.jobs.map.store.statements import LIMITED_DOMAINS
from sumi.policy import FrontierPolicy
from sumi.ports import HostWait
from sumi.state.indexed.store import IndexedStore


class TerrainView(IndexedStore):
    def __init__(self, path: Path, policy: FrontierPolicy, opened_at: float) -> None:
        rows = TerrainRows(path, strict=False, readonly=True)
        super().__init__(rows, policy, opened_at)
        last = rows.last_run()
        self.ended = last is not None and last[2] == COMPLETED  # its last run, by itself
        limited: dict[str, str] = dict.fromkeys((d for (d,) in rows.run_query(LIMITED_DOMAINS)), BUDGET_SPENT)
        suspended = [row.domain for row in rows.domains() if row.suspended]
        self._left_out = limited | dict.fromkeys(suspended, SUSPENDED)

    async def waiting_hosts(self, now: float) -> list[HostWait]:
        """As the run itself would tell it: what is out of it waits for another one, not for a time."""
        return [self._as_in_the_run(wait, now) for wait in await super().waiting_hosts(now)]

    def _as_in_the_run(self, wait: HostWait, now: float) -> HostWait:
        why = self._left_out.get(domain_of(wait.host))
        return wait if why is None else msgspec.structs.replace(wait, why=why, ready_at=now)
