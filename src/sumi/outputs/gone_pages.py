"""``_gone/``: files of pages that the site no longer has. Nobody reads them by mistake; nothing is lost."""

from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.outputs.safe_files import SafeFolder
from sumi.ports import Ledger

ENDINGS = frozenset({Outcome.GONE, Outcome.REDIRECTED})


class GonePages:
    def __init__(self, files: SafeFolder, home: str) -> None:
        self._files = files
        self._folder = f"{home}/_gone"
        self._present = False

    async def recall(self, ledger: Ledger) -> None:
        """A run may have been killed between a page's settlement and the moving of its file."""
        self._present = bool(self._files.names(self._folder))
        async for record in ledger.records(ENDINGS):
            self.settle(record.facts)

    def settle(self, facts: PageFacts) -> None:
        """Move the file of a page that is gone out of the tree."""
        if facts.was_path is None:
            return
        data = self._files.read_bytes(facts.was_path)
        if data is not None:
            self._files.write_atomic(self._place(facts.was_path), data)
            if not facts.asset:  # others may hold the same content; what nobody does is swept up at the end
                self._files.remove(facts.was_path)
            self._present = True

    def returned(self, path: str) -> None:
        """The page is there again."""
        if self._present:
            self._files.remove(self._place(path))

    def _place(self, path: str) -> str:
        return f"{self._folder}/{path}"
