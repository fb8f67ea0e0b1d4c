"""Readers of PDF beside each other, on files that you have: ``python -m benchmarks.documents FILE|FOLDER...``

For each: processor time, and how many words it shares with pdftotext of Poppler, which is none of them:
recall, precision, and F1 of words with their counts, over all files. Needs poppler-utils, and ``pip install
pypdf pdfminer.six``; a reader that is not installed is left out.
"""

import html
import logging
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Final

from sumi.parse.documents.reading import read_document

_WORD: Final = re.compile(r"\w{2,}")
_LEAST_WORDS: Final = 50  # in a file: without, it is pictures


_TAG: Final = re.compile(r"<[^>]*>")


def sumi_reader(body: bytes) -> str:
    """With heads, feet and page numbers left out, on purpose."""
    return html.unescape(_TAG.sub(" ", read_document(body, "PDF").html))


def pypdfium2_reader(body: bytes) -> str:
    import pypdfium2

    document = pypdfium2.PdfDocument(body)
    return "\n".join(page.get_textpage().get_text_range() for page in document)


def pypdf_reader(body: bytes) -> str:
    import pypdf

    return "\n".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(body)).pages)


def pdfminer_reader(body: bytes) -> str:
    from pdfminer.high_level import extract_text

    return str(extract_text(BytesIO(body)))


READERS: Final[dict[str, Callable[[bytes], str]]] = {
    "Sumi": sumi_reader,
    "pypdfium2": pypdfium2_reader,
    "pypdf": pypdf_reader,
    "pdfminer.six": pdfminer_reader,
}


class Tally:
    def __init__(self) -> None:
        self.seconds = 0.0
        self.found = 0
        self.shared = 0
        self.expected = 0
        self.failed: list[str] = []
        self.worst: tuple[float, str] = (2.0, "")

    def add(self, name: str, words: Counter[str], expected: Counter[str], seconds: float) -> None:
        self.seconds += seconds
        shared = (words & expected).total()
        self.found += words.total()
        self.expected += expected.total()
        self.shared += shared
        self.worst = min(self.worst, (shared / expected.total(), name))

    def line(self, name: str) -> str:
        recall, precision = self.shared / max(self.expected, 1), self.shared / max(self.found, 1)
        f1 = 2 * recall * precision / max(recall + precision, 1e-9)
        failed = f"; failed: {', '.join(self.failed)}" if self.failed else ""
        worst = f"worst recall {self.worst[0]:.3f} ({self.worst[1]})"
        scores = f"R {recall:.3f}  P {precision:.3f}  F1 {f1:.3f}"
        return f"{name:<13} {self.seconds:8.1f} s  {scores}  {worst}{failed}"


def main(arguments: list[str]) -> None:
    logging.disable(logging.CRITICAL)
    tallies: dict[str, Tally] = {}
    used = 0
    for file in _files(arguments):
        expected = _words(_of_poppler(file))
        if expected.total() < _LEAST_WORDS:
            print(f"{file.name}: no text, passed over")
            continue
        used += 1
        body = file.read_bytes()
        for name, reader in READERS.items():
            tally = tallies.setdefault(name, Tally())
            started = time.process_time()
            try:
                text = reader(body)
            except ImportError:
                tallies.pop(name)
                continue
            except Exception as error:  # whatever a reader has against a file
                tally.failed.append(f"{file.name} ({type(error).__name__})")
                text = ""
            tally.add(file.name, _words(text), expected, time.process_time() - started)
    print(f"{used} files")
    for name, tally in tallies.items():
        print(tally.line(name))


def _files(arguments: list[str]) -> list[Path]:
    named = map(Path, arguments)
    return [file for path in named for file in (sorted(path.glob("*.pdf")) if path.is_dir() else [path])]


def _of_poppler(file: Path) -> str:
    done = subprocess.run(["pdftotext", "-q", str(file), "-"], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))


if __name__ == "__main__":
    if not sys.argv[1:]:
        raise SystemExit(__doc__)
    main(sys.argv[1:])
