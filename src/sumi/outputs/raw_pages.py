"""``.sumi/raw/``: the bodies that a mirror was made from, as they came, each a zstd frame under its hash."""

from sumi.outputs.safe_files import SafeFolder
from sumi.parse.raw import unpacked

FOLDER = ".sumi/raw"
MOST_BYTES = 1024**3  # of a body; more than any limit on bodies lets in


class RawPages:
    def __init__(self, files: SafeFolder, home: str) -> None:
        self._files = files
        self._folder = f"{home}/{FOLDER}"

    def put(self, sha256: str, frame: bytes) -> None:
        """Kept once, however many pages have that body. After a power cut the file may be there and empty."""
        path = self._path(sha256)
        if self._files.read_bytes(path) != frame:
            self._files.write_atomic(path, frame)

    def has_whole(self, sha256: str) -> bool:
        frame = self.read(sha256)
        return frame is not None and unpacked(frame, MOST_BYTES) is not None

    def read(self, sha256: str) -> bytes | None:
        return self._files.read_bytes(self._path(sha256))

    def remove(self, sha256: str) -> None:
        self._files.remove(self._path(sha256))

    def _path(self, sha256: str) -> str:
        return f"{self._folder}/{sha256[:2]}/{sha256[2:4]}/{sha256}.html.zst"
