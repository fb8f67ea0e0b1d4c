"""Gzip as a stream: small bounded steps, any number of members, and what can be read of a broken file."""

from collections.abc import Iterator

from isal import igzip_lib

MAGIC = b"\x1f\x8b"
# Output that is still in the decompressor when it finds damage is lost, so both steps are small.
_STEP_IN = 4 * 1024
_STEP_OUT = 64 * 1024
_Damage: type[Exception] = igzip_lib.IsalError  # type: ignore[assignment]  # the stub takes it for an instance


class Gunzip:
    """One gzip file. ``problem``: what was lost; "" if nothing was."""

    def __init__(self) -> None:
        self.problem = ""
        self._member = _new_member()
        self._behind = b""  # bytes after a member, too few to recognize another one

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _STEP_IN):
            yield from self._step(data[start : start + _STEP_IN])

    def close(self) -> None:
        if not self.problem and not self._member.eof:
            self.problem = "its gzip data ends early"

    def _step(self, data: bytes) -> Iterator[bytes]:
        while data and not self.problem:
            if self._member.eof:
                data = self._next_member(data)
                if not data:
                    return
            try:
                yield from self._drain(data)
            except _Damage:
                self.problem = "its gzip data is damaged"
                return
            data = self._member.unused_data if self._member.eof else b""

    def _drain(self, data: bytes) -> Iterator[bytes]:
        """The decompressed ``data``, piece by piece."""
        while data or not (self._member.eof or self._member.needs_input):
            piece = self._member.decompress(data, _STEP_OUT)
            data = b""
            if not piece:
                return
            yield piece

    def _next_member(self, data: bytes) -> bytes:
        data = (self._behind + data).lstrip(b"\0")  # archives are padded with zeros
        self._behind = data[: len(MAGIC) - 1]
        if data.startswith(MAGIC):
            self._member, self._behind = _new_member(), b""
            return data
        if len(data) >= len(MAGIC):
            self.problem = "bytes after its gzip data were left out"
        return b""


class Unpacker:
    """Content that may be gzipped, even twice; recognized by its first bytes, never by its name."""

    def __init__(self, layers: int = 2) -> None:
        self._layers = layers
        self._head: bytes | None = b""
        self._packed: tuple[Gunzip, Unpacker] | None = None

    @property
    def problem(self) -> str:
        if self._packed is None:
            return ""
        outer, inner = self._packed
        return outer.problem or inner.problem

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._head is not None:
            data = self._head + data
            self._head = data
            if len(data) < len(MAGIC):
                return
            self._begin(data)
        if self._packed is None:
            yield data
            return
        outer, inner = self._packed
        for piece in outer.feed(data):
            yield from inner.feed(piece)

    def close(self) -> Iterator[bytes]:
        """What was held back until more came."""
        if self._head:
            yield self._head
        if self._packed is not None:
            outer, inner = self._packed
            outer.close()
            yield from inner.close()

    def _begin(self, data: bytes) -> None:
        self._head = None
        if self._layers and data.startswith(MAGIC):
            self._packed = Gunzip(), Unpacker(self._layers - 1)


def _new_member() -> igzip_lib.IgzipDecompressor:
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
