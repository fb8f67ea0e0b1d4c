"""What a finished mirror's own files say about each other, beyond the truth of the site."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sumi.corpus.index_store import DATABASE as INDEX
from sumi.corpus.index_store import FOLDER, SearchIndex
from sumi.errors import SumiError
from sumi.history.recorder import FOLDER as HISTORY
from sumi.history.store import DATABASE, History, history_violations
from sumi.state.journal.journal import Journal
from sumi.state.journal.records import Again, Ended, decode
from tests.site import Truth


def state_faults(home: Path, truth: Truth) -> list[str]:
    """Every inconsistency in words."""
    return [
        *_journal_faults(home / ".sumi"),
        *_processed_faults(home, truth),
        *_leftovers(home),
        *_history_faults(home),
        *_index_faults(home),
    ]


def _journal_faults(state: Path) -> Iterator[str]:
    """A page is settled once; again only after it was put back by name."""
    if not any(state.glob("journal-*.log")):
        return  # another backend
    ended: Counter[str] = Counter()
    try:
        for payload in read_journal(state):
            record = decode(payload)
            if isinstance(record, Ended):
                ended[record.url] += 1
            elif isinstance(record, Again):
                ended.subtract(record.urls)
    except (SumiError, msgspec.MsgspecError) as error:
        yield f"the journal does not open: {error}"
    yield from (f"settled {count} times: {url}" for url, count in ended.items() if count > 1)


def read_journal(state: Path) -> list[bytes]:
    journal = Journal(state)
    try:
        return [payload for _, payload in journal.replay()]
    finally:
        journal.close()


def _processed_faults(home: Path, truth: Truth) -> Iterator[str]:
    text = (home / "_processed.txt").read_text()
    if text and not text.endswith("\n"):
        yield "_processed.txt ends in a torn line"
    lines = Counter(text.splitlines())
    yield from (f"{count} times in _processed.txt: {line}" for line, count in lines.items() if count > 1)
    missing = {path for path in truth.captured_by_sitemap if not any(line.endswith(path) for line in lines)}
    yield from (f"not in _processed.txt: {path}" for path in sorted(missing))


def _pages(home: Path) -> dict[str, str]:
    """The hash of each page's text, as the manifest has it."""
    manifest = msgspec.json.decode((home / "_manifest.json").read_bytes())
    return {page["url"]: page["sha256"] for page in manifest["pages"] if page.get("sha256")}


def _history_faults(home: Path) -> Iterator[str]:
    """Every text can be read, and the last version of each page is the page."""
    folder = home / ".sumi" / HISTORY
    if not (folder / DATABASE).is_file():
        return
    yield from history_violations(folder)
    store = History(folder)
    try:
        for url, digest in _pages(home).items():
            head = store.head(url)
            if head is None or not head.live or (head.sha256 or b"").hex() != digest:
                yield f"the history does not end with the text of {url}"
        yield from (
            f"the history has a page too many: {url}" for url in {*store.live_urls()} - {*_pages(home)}
        )
    finally:
        store.close()


def _index_faults(home: Path) -> Iterator[str]:
    """What the last run left in the index is what it captured."""
    if not (home.parent / FOLDER / INDEX).is_file():
        return
    index = SearchIndex(home.parent, readonly=True)
    try:
        found = dict(index.rows("SELECT url, sha256 FROM page"))
        sections = index.rows("SELECT count(*) FROM section")[0][0]
        words = index.rows("SELECT count(*) FROM section_fts")[0][0]
    finally:
        index.close()
    pages = _pages(home)
    yield from (f"the index differs from the mirror: {url}" for url in found.keys() ^ pages.keys())
    yield from (
        f"the index has another text of {url}" for url, sha in found.items() if pages.get(url, sha) != sha
    )
    if sections != words:
        yield f"the index has {sections} sections and the words of {words}"


def _leftovers(home: Path) -> Iterator[str]:
    yield from (f"left behind: {path.relative_to(home)}" for path in home.rglob("*.tmp"))
