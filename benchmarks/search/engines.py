"""What Sumi's ranking is compared with, each over the same sections, as its own documentation uses it."""

import re
import tempfile
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import apsw

from benchmarks.search.manuals import MANUALS, OTHERS, host
from benchmarks.search.questions import Engine
from sumi.corpus.indexed_text import indexed_page
from sumi.corpus.library import Library
from sumi.corpus.searching import search_library
from sumi.corpus.words import STOP_WORDS, stem, words_of

_SITES = {host(name): name for name in (*MANUALS, *OTHERS)}
_MANY = 60  # sections, of which ten pages are to be made


class Piece(NamedTuple):
    site: str
    path: str
    title: str
    trail: str
    body: str


def where(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return _SITES[parts.netloc], parts.path.removeprefix("/") or "index.html"


def pieces(library: Library) -> list[Piece]:
    """Every section of every page."""
    found = []
    for store in library.stores:
        for (number,) in store.rows("SELECT id FROM page ORDER BY id"):
            row = library.page_by_id(store, number)
            site, path = where(row.url)
            cut = indexed_page(library.text(row) or "").sections
            found += [Piece(site, path, row.title, section.trail, section.body) for section in cut]
    return found


def blend(library: Library) -> Engine:
    def ask(question: str, site: str) -> list[tuple[str, str]]:
        return [
            where(page.url) for page in search_library(library, question, site=host(site) if site else "")
        ]

    return ask


def plain_sections(found: list[Piece]) -> Engine:
    """FTS5's own bm25 over sections, with weights for title and headings: the usual way."""
    db = apsw.Connection(":memory:")
    tokens = "unicode61 remove_diacritics 2"
    db.execute(f'CREATE VIRTUAL TABLE t USING fts5(site UNINDEXED, title, trail, body, tokenize="{tokens}")')
    db.executemany(
        "INSERT INTO t(rowid, site, title, trail, body) VALUES (?, ?, ?, ?, ?)",
        ((at, each.site, each.title, each.trail, each.body) for at, each in enumerate(found)),
    )

    def ask(question: str, site: str) -> list[tuple[str, str]]:
        match = " OR ".join(f'"{word}"' for word in _asked(question))
        rows = db.execute(
            "SELECT rowid FROM t WHERE t MATCH ? AND (? = '' OR site = ?) "
            "ORDER BY bm25(t, 0, 4, 3, 1) LIMIT ?",
            (match, site, site, _MANY),
        )
        return _pages(found[int(str(at))] for (at,) in rows)

    return ask


def tantivy_sections(found: list[Piece]) -> Engine:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("at", stored=True)
    builder.add_text_field("site", tokenizer_name="raw")
    for name in ("title", "trail", "body"):
        builder.add_text_field(name, tokenizer_name="en_stem")
    index = tantivy.Index(builder.build(), path=tempfile.mkdtemp())
    writer = index.writer(64_000_000, 1)
    for at, each in enumerate(found):
        writer.add_document(
            tantivy.Document(at=at, site=each.site, title=each.title, trail=each.trail, body=each.body)
        )
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(question: str, site: str) -> list[tuple[str, str]]:
        words = " ".join(_asked(question))
        query = index.parse_query(words, ["title", "trail", "body"])
        if site:
            chosen = tantivy.Query.term_query(index.schema, "site", site)
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, chosen)])
        hits = searcher.search(query, _MANY).hits
        return _pages(found[searcher.doc(address)["at"][0]] for _, address in hits)

    return ask


def bm25s_sections(found: list[Piece]) -> Engine:
    """With our stems; a site of its own has an index of its own."""
    import bm25s

    def built(chosen: list[Piece]) -> tuple[Any, list[Piece]]:
        retriever = bm25s.BM25()
        texts = [_stems(f"{each.title} {each.trail} {each.body}") for each in chosen]
        retriever.index(texts, show_progress=False)
        return retriever, chosen

    indexes = {"": built(found)}
    for name in {each.site for each in found}:
        indexes[name] = built([each for each in found if each.site == name])

    def ask(question: str, site: str) -> list[tuple[str, str]]:
        retriever, chosen = indexes[site]
        known = [word for word in dict.fromkeys(_stems(question)) if word in retriever.vocab_dict]
        if not known:
            return []
        rows, scores = retriever.retrieve([known], k=min(_MANY, len(chosen)), show_progress=False)
        return _pages(chosen[int(at)] for at, worth in zip(rows[0], scores[0], strict=True) if worth > 0)

    return ask


def _asked(question: str) -> list[str]:
    words = re.findall(r"[^\W_]+", question.lower())
    return [word for word in words if word not in STOP_WORDS] or words


def _stems(text: str) -> list[str]:
    return [stem(word) for word in words_of(text) if word not in STOP_WORDS]


def _pages(found: Iterable[Piece]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((each.site, each.path) for each in found))[:10]
