"""The bookmark: how far each file of a spool has been read, so that none is passed over for its name.

Earlier versions noted one file only, having read all that come before it by name.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from sumi.files.faults import explained
from sumi.jobs.pipeline.spool_folder import FILE_NAME, SEGMENT_NAME
from sumi.state.folder import own_file


class Bookmark(msgspec.Struct, frozen=True):
    file: str | None = None  # the one read last
    offset: int = 0
    others: dict[str, int] | None = None  # None: an earlier version's

    def offsets(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """By file, as far as any was read; ``sizes`` are those of the files that are there."""
        if self.file is None:
            return {}
        if self.others is not None:
            return {**self.others, self.file: self.offset}
        before = [name for name in sizes if SEGMENT_NAME.match(name) and name < self.file]
        return {**{name: sizes[name] for name in before}, self.file: self.offset}


def read_bookmark(path: Path) -> Bookmark | None:
    """None if there is one that cannot be read; the start if there is none."""
    try:
        mark = msgspec.json.decode(path.read_bytes(), type=Bookmark)
    except FileNotFoundError:
        return Bookmark()
    except (OSError, ValueError, msgspec.MsgspecError):
        return None
    named = {**(mark.others or {}), **({} if mark.file is None else {mark.file: mark.offset})}
    return mark if all(FILE_NAME.match(name) and at >= 0 for name, at in named.items()) else None


def write_bookmark(path: Path, mark: Bookmark) -> None:
    """A bookmark that is behind does no harm, so it need not outlive a power cut."""
    draft = path.with_name(f".{path.name}.tmp")
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(draft, "wb", opener=own_file) as file:
            file.write(msgspec.json.encode(mark) + b"\n")
        draft.replace(path)
