"""``sumi state check --deep``: whether every text of a history can be read, and what is lost if not."""

from collections.abc import Iterator
from pathlib import Path

from sumi.errors import StateError
from sumi.history.store import DATABASE, History


def history_violations(folder: Path) -> Iterator[str]:
    """Every loss in words; none where there is no history."""
    if not (folder / DATABASE).is_file():
        return
    try:
        store = History(folder)
    except StateError as error:
        yield str(error)
        return
    try:
        readable: dict[bytes, bool] = {}
        for version in reversed(store.changes()):
            digest = version.sha256
            if digest is None:
                continue
            if digest not in readable:
                readable[digest] = store.text(digest) is not None
            if not readable[digest]:
                where = store.pack_of(digest)
                yield (
                    f"{version.url}: the text of its version {version.number} is "
                    + (f"damaged in {folder.name}/{where}" if where else "missing from its history")
                )
    finally:
        store.close()
