"""A store that is a database in a state folder: locked, marked as ours, opened to work or only to look."""

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from sumi.policy import Durability, FrontierPolicy
from sumi.state.folder import claim_folder, sync_folder
from sumi.state.indexed.rows import Rows
from sumi.state.indexed.store import IndexedStore
from sumi.state.lock import FolderLock


class FolderStore(IndexedStore):
    backend: ClassVar[str]  # as in format.json
    format: ClassVar[int]

    def __init__(
        self,
        folder: Path,
        policy: FrontierPolicy,
        opened_at: float,
        durability: Durability = Durability.BATCH,
        lock: FolderLock | None = None,
    ) -> None:
        """``lock``: of the folder, if it is held already; whoever gave it releases it."""
        self._own_lock = FolderLock(folder) if lock is None else None
        try:
            claim_folder(folder, self.backend, self.format)
            rows = self.open_rows(folder, strict=durability is Durability.STRICT)
            sync_folder(folder)  # a database syncs its content, not always its name
            super().__init__(rows, policy, opened_at)
        except BaseException:
            self._unlock()
            raise

    @classmethod
    def reading(cls, folder: Path, policy: FrontierPolicy, opened_at: float) -> IndexedStore:
        """What is there now, without the lock and without changing anything; a run may be going on."""
        claim_folder(folder, cls.backend, cls.format, must_exist=True)
        return IndexedStore(cls.look_at_rows(folder), policy, opened_at)

    async def aclose(self) -> None:
        await super().aclose()
        self._unlock()

    def _unlock(self) -> None:
        if self._own_lock is not None:
            self._own_lock.release()

    @staticmethod
    @abstractmethod
    def open_rows(folder: Path, *, strict: bool) -> Rows:
        """The database in this folder, made if there is none; strict: every write outlives a power cut."""

    @staticmethod
    @abstractmethod
    def look_at_rows(folder: Path) -> Rows:
        """The database in this folder, which cannot be written through this."""
