"""What a finished mirror's own files say about each other, beyond the truth of the site."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sumi.errors import SumiError
from sumi.state.journal.journal import Journal
from sumi.state.journal.records import Again, Ended, decode
from tests.site import Truth


def state_faults(home: Path, truth: Truth) -> list[str]:
    """Every inconsistency in words."""
    return [*_journal_faults(home / ".sumi"), *_processed_faults(home, truth), *_leftovers(home)]


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


def _leftovers(home: Path) -> Iterator[str]:
    yield from (f"left behind: {path.relative_to(home)}" for path in home.rglob("*.tmp"))
