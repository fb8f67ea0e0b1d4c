"""Zipped XML, as DOCX, ODT and EPUB are: read within bounds, whatever its table of contents claims."""

import zipfile
import zlib
from io import BytesIO
from typing import Final
from xml.etree import ElementTree as ET

from sumi.parse.documents.document import Unreadable

_MOST_BYTES: Final = 24 * 1024 * 1024  # of one part, unpacked
_MOST_IN_ALL: Final = 96 * 1024 * 1024
_MOST_PARTS: Final = 20_000
_FAULTS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    ValueError,
    KeyError,
    OSError,
)


class Package:
    def __init__(self, body: bytes) -> None:
        try:
            self._archive = zipfile.ZipFile(BytesIO(body))
        except _FAULTS as error:
            raise Unreadable("it is a damaged ZIP archive") from error
        self.names = frozenset(self._archive.namelist())
        self._left = _MOST_IN_ALL
        if len(self.names) > _MOST_PARTS:
            raise Unreadable(f"it has more than {_MOST_PARTS:,} parts")

    def read(self, name: str) -> bytes:
        """A part, which must be there."""
        try:
            with self._archive.open(name) as part:
                data = part.read(min(_MOST_BYTES, self._left) + 1)
        except RuntimeError as error:  # what zipfile raises for a password
            raise Unreadable("it is encrypted") from error
        except _FAULTS as error:
            raise Unreadable(f"its part {name[:100]!r} is missing or damaged") from error
        self._left -= len(data)
        if len(data) > _MOST_BYTES or self._left < 0:
            raise Unreadable("it is too large when unpacked")
        return data

    def xml(self, name: str) -> ET.Element:
        """Documents of this kind declare no entities; one that does is refused, as a bomb would."""
        data = self.read(name)
        if b"<!ENTITY" in data or "<!ENTITY".encode("utf-16-le") in data:
            raise Unreadable(f"its part {name[:100]!r} declares entities")
        try:
            return ET.fromstring(data)  # noqa: S314
        except (ET.ParseError, ValueError, LookupError) as error:
            raise Unreadable(f"its part {name[:100]!r} is no XML") from error

    def optional_xml(self, name: str) -> ET.Element | None:
        return self.xml(name) if name in self.names else None
