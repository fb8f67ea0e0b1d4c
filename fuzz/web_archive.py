"""Archives that anybody wrote: every place is a record or a bad record, and each byte is looked at once."""

import gzip
import tempfile
from pathlib import Path

from fuzz.inputs import as_choice
from sumi.errors import UsageError
from sumi.files.warc_reader import Archive, Record


def check(data: bytes) -> None:
    """The first byte chooses: a file as it is, or records in gzip members of their own."""
    choice, content = as_choice(data)
    if choice % 2:
        members = content.split(b"\0\0\0\0")
        content = b"".join(gzip.compress(member, mtime=0) for member in members)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.warc")
        path.write_bytes(content)
        try:
            archive = Archive([path])
        except UsageError:
            return
        try:
            _check(archive, len(content))
        finally:
            archive.close()


def _check(archive: Archive, size: int) -> None:
    before = -1
    for found in archive:
        assert before < found.offset < size
        before = found.offset
        if isinstance(found, Record):
            assert 0 < found.stored <= size - found.offset
            content = archive.content(found, size * 1100)
            assert content is None or len(content) == found.length
            assert sum(map(len, archive.stored(found))) > 0
            continue
        assert found.why.isprintable()
