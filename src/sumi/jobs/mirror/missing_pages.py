"""Placeholders for missing pages, and the last copies of removed ones.

``_failed/`` and ``_skipped/`` have a placeholder for each URL that was requested and has no page; ``_gone/``
has the last copy of each page that the site has removed.
"""

from hashlib import sha256

from sumi.files.plain_text import front_matter, iso_utc, markdown_text, markdown_url
from sumi.files.safe_files import SafeFolder
from sumi.model import PageFacts
from sumi.outcomes import MEANINGS, Ending, Outcome, Verdict
from sumi.ports import Ledger
from sumi.urls.paths import PathAllocator

_FOLDERS = {Ending.FAILED: "_failed", Ending.PASSED_OVER: "_skipped"}
_RULE_CHARACTERS = 1000


class Placeholders:
    """Remembers which placeholders exist: most pages never had one, so the disk is rarely touched."""

    def __init__(self, files: SafeFolder, home: str) -> None:
        self._files = files
        self._folders = {ending: f"{home}/{folder}" for ending, folder in _FOLDERS.items()}
        self._present = {
            f"{folder}/{name}" for folder in self._folders.values() for name in files.names(folder)
        }

    def put(self, url: str, verdict: Verdict, at: float) -> None:
        """Write why there is no page; not for guessed sitemaps and for URLs that are done."""
        folder = self._folders.get(verdict.ending)
        if folder is None or verdict.outcome is Outcome.ABSENT:
            return
        self.remove(url)
        path = f"{folder}/{_name(url)}"
        self._files.write_atomic(path, _compose(url, verdict, at))
        self._present.add(path)

    def __bool__(self) -> bool:
        return bool(self._present)

    def remove(self, url: str) -> None:
        if not self._present:
            return
        name = _name(url)
        for folder in self._folders.values():
            path = f"{folder}/{name}"
            if path in self._present:
                self._files.remove(path)
                self._present.remove(path)


def _name(url: str) -> str:
    return sha256(url.encode("utf-8", "surrogatepass")).hexdigest()[:16] + ".md"


def _compose(url: str, verdict: Verdict, at: float) -> bytes:
    what = MEANINGS[verdict.outcome]
    head = front_matter(
        url=url, outcome=verdict.outcome.value, reason=verdict.rule or None, ended_at=iso_utc(at)
    )
    family = "Failed" if what.ending is Ending.FAILED else "Skipped"
    paragraphs = [
        f"# {family}: {verdict.outcome.value.replace('_', ' ')}",
        markdown_url(url),
        what.meaning,
        markdown_text(verdict.rule, _RULE_CHARACTERS),
        what.advice,
    ]
    return (head + "\n" + "\n\n".join(filter(None, paragraphs)) + "\n").encode()


# Of a page whose file leaves the tree.
ENDINGS = frozenset({Outcome.GONE, Outcome.REDIRECTED, Outcome.DUPLICATE})


class GonePages:
    """Files of pages that the site no longer has, so that nothing is lost."""

    def __init__(self, files: SafeFolder, home: str) -> None:
        self._files = files
        self._home = home
        self._folder = f"{home}/_gone"
        self._moved: dict[str, str] = {}  # former path by URL

    async def load(self, ledger: Ledger, names: PathAllocator) -> None:
        """Move what a killed run had settled but not moved yet."""
        self._moved = {}
        present = bool(self._files.names(self._folder))
        # An update requests removed pages again; until then their files stay in _gone/.
        async for record in ledger.records(ENDINGS | {Outcome.PENDING} if present else ENDINGS):
            if present and record.facts.was_path is not None:
                self._moved[record.url] = record.facts.was_path
            if record.outcome in ENDINGS:
                self.settle(record.url, record.facts, names)

    def settle(self, url: str, facts: PageFacts, names: PathAllocator) -> None:
        """Move the file of a removed page out of the tree, unless another page has its path by now."""
        path = facts.was_path
        if path is None or names.is_anothers(path, url):
            return
        data = self._files.read_bytes(path)
        if data is not None:
            self._files.write_atomic(self._place(path), data)
            if not facts.asset:  # the sweep at the end removes assets that no URL uses
                self._files.remove(path)
            self._moved[url] = path

    def returned(self, url: str) -> None:
        """The site has the page again, perhaps under another name."""
        path = self._moved.pop(url, None)
        if path is not None:
            self._files.remove(self._place(path))
            self._files.remove(f"{self._folder}/{path}")  # where earlier versions put it

    def _place(self, path: str) -> str:
        """As in the tree; pages of other hosts are below their names."""
        return f"{self._folder}/{path.removeprefix(f'{self._home}/')}"
