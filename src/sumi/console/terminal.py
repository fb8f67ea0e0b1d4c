"""What may be printed on a terminal, and how much of it fits."""

import os
import unicodedata
from collections.abc import Mapping
from typing import TextIO

# Text from a crawled site must not control the terminal: no escape sequences, no text that runs backwards, no
# line breaks that forge a second message.


def printable(text: str) -> str:
    """Control, format (bidi, zero width), surrogate and line-breaking characters as visible escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def fit(text: str, width: int) -> str:
    """The beginning of ``text`` that fills at most ``width`` columns."""
    used = 0
    for position, char in enumerate(text):
        used += _columns(char)
        if used > width:
            return text[:position]
    return text


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def duration(seconds: float) -> str:
    """``0.8s``, ``42s``, ``3m 20s``, ``14h 02m``, ``3d 04h``."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f}s"
    whole = round(seconds)
    for size, unit, smaller_size, smaller in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "m"),
        (60, "m", 1, "s"),
    ):
        if whole >= size:
            return f"{whole // size}{unit} {whole % size // smaller_size:02d}{smaller}"
    return f"{whole}s"


class Sink:
    """A stream whose reader may go away. That (``| head``) must not stop a crawl, so a failure is kept for
    the end instead of raised."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    @property
    def is_terminal(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def write(self, text: str) -> None:
        if self._stream is None or self.failure is not None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError as error:
            self.failure = error
            self.give_up(self._stream)

    def line(self, text: str) -> None:
        self.write(f"{text}\n")

    @staticmethod
    def give_up(stream: TextIO) -> None:
        """What is still buffered would fail again when the interpreter closes the stream."""
        try:
            descriptor = stream.fileno()
        except OSError:
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


class Palette:
    """Colours, or none: only on a terminal that can, and not where NO_COLOR is set."""

    def __init__(self, *, colours: bool) -> None:
        self._colours = colours

    @classmethod
    def for_sink(cls, sink: Sink, environ: Mapping[str, str]) -> "Palette":
        return cls(colours=sink.is_terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb")

    def good(self, text: str) -> str:
        return self._paint("32", text)

    def bad(self, text: str) -> str:
        return self._paint("31", text)

    def caution(self, text: str) -> str:
        return self._paint("33", text)

    def faint(self, text: str) -> str:
        return self._paint("2", text)

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colours and text else text
