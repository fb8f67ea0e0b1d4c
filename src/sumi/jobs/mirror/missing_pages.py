"""``_failed/`` and ``_skipped/``: a small page for each URL that was asked for and has no page of its own."""

from hashlib import sha256

from sumi.files.front_matter import front_matter
from sumi.files.plain_text import iso_utc, markdown_text, markdown_url
from sumi.files.safe_files import SafeFolder
from sumi.outcomes import MEANINGS, Ending, Outcome, Verdict

_FOLDERS = {Ending.FAILED: "_failed", Ending.PASSED_OVER: "_skipped"}
_RULE_CHARACTERS = 1000


class Placeholders:
    """Knows by heart which ones exist, as most pages never had one and are not to pay for the others."""

    def __init__(self, files: SafeFolder, home: str) -> None:
        self._files = files
        self._folders = {ending: f"{home}/{folder}" for ending, folder in _FOLDERS.items()}
        self._present = {
            f"{folder}/{name}" for folder in self._folders.values() for name in files.names(folder)
        }

    def put(self, url: str, verdict: Verdict, at: float) -> None:
        """Say why there is no page. A sitemap that was only guessed and a URL that is done need no saying."""
        folder = self._folders.get(verdict.ending)
        if folder is None or verdict.outcome is Outcome.ABSENT:
            return
        self.remove(url)
        path = f"{folder}/{_name(url)}"
        self._files.write_atomic(path, _compose(url, verdict, at))
        self._present.add(path)

    def __bool__(self) -> bool:
        """Whether there are any."""
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
