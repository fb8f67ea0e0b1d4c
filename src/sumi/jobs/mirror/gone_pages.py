"""``_gone/``: files of pages that the site no longer has. Nobody reads them by mistake; nothing is lost."""

from sumi.files.safe_files import SafeFolder
from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.ports import Ledger
from sumi.urls.paths import PathAllocator

ENDINGS = frozenset({Outcome.GONE, Outcome.REDIRECTED})


class GonePages:
    def __init__(self, files: SafeFolder, home: str) -> None:
        self._files = files
        self._folder = f"{home}/_gone"
        self._here: dict[str, str] = {}  # by URL: where its file was

    async def recall(self, ledger: Ledger, names: PathAllocator) -> None:
        """A run may have been killed between a page's settlement and the moving of its file."""
        self._here = {}
        present = bool(self._files.names(self._folder))
        # An update asks again for pages that are gone; until then they are waiting, and their files here.
        async for record in ledger.records(ENDINGS | {Outcome.PENDING} if present else ENDINGS):
            if present and record.facts.was_path is not None:
                self._here[record.url] = record.facts.was_path
            if record.outcome in ENDINGS:
                self.settle(record.url, record.facts, names)

    def settle(self, url: str, facts: PageFacts, names: PathAllocator) -> None:
        """Move the file of a page that is gone out of the tree, unless another page has its place since."""
        path = facts.was_path
        if path is None or names.is_anothers(path, url):
            return
        data = self._files.read_bytes(path)
        if data is not None:
            self._files.write_atomic(self._place(path), data)
            if not facts.asset:  # others may hold the same content; what nobody does is swept up at the end
                self._files.remove(path)
            self._here[url] = path

    def returned(self, url: str) -> None:
        """The page is there again, perhaps under another name."""
        path = self._here.pop(url, None)
        if path is not None:
            self._files.remove(self._place(path))

    def _place(self, path: str) -> str:
        return f"{self._folder}/{path}"
