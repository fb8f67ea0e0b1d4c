"""Candidates from one index: the sections and pages that FTS5 ranks first, with how often each word is where.

FTS5 chooses the candidates; what they are worth is decided by ``ranking``, from these counts.
"""

from collections.abc import Iterable
from operator import add
from typing import Final

import apsw

from sumi.corpus.index_store import SearchIndex, site_token
from sumi.corpus.query import Query, Term
from sumi.corpus.ranking import FIELDS, Hit, Hits, Word
from sumi.corpus.synonyms import RELATED
from sumi.corpus.words import stem

MOST_SECTIONS: Final = 300
MOST_PAGES: Final = 150
_MOST_FORMS: Final = 8  # of one word
_MOST_RELATED: Final = 3  # of each word that means the same
_MOST_JOINED: Final = 3  # of two words that are written as one
FORM_WORTH: Final = 0.8
_MOST_PLACES: Final = 40  # of one word in a text, where closeness is looked at
_COLUMNS: Final = len(FIELDS) + 1  # with the site
_BODY: Final = _COLUMNS - 1
_SHOWN: Final = range(1, _COLUMNS)
_NONE: Final = (0.0,) * len(FIELDS)
_FORMS: Final = "SELECT term, doc FROM page_terms WHERE term >= ? AND term < ? LIMIT 400"


def candidates(store: SearchIndex, query: Query, sites: Iterable[int] | None) -> Hits:
    """``sites``: only of these; None for all."""
    ((pages,),) = store.rows("SELECT count(*) FROM page")
    words = [_word(store, term, pages, query.pairs) for term in query.terms]
    match = _match(words, query.excluded, sites)
    counter = _Counter(words)
    store.db.register_fts5_function("sumi_count", counter)
    sections = counter.gathered(store, "section_fts", match, MOST_SECTIONS)
    found = counter.gathered(store, "page_fts", match, MOST_PAGES)
    averages = counter.averages
    return Hits(words, pages, sections, found, averages["section_fts"], averages["page_fts"])


def _word(store: SearchIndex, term: Term, pages: int, pairs: Iterable[tuple[str, str]]) -> Word:
    """With its other forms that occur, and on how many pages."""
    if len(term.words) > 1:
        return Word(term.words[-1], (term.quoted,), max(1, pages // 200), (1.0,))
    word = term.words[0]
    root = stem(word)
    forms = _forms(store, root)
    number = forms.pop(word, 0)
    usual = list(forms)[: _MOST_FORMS - 1]
    number += sum(forms[form] for form in usual)
    joined = [stem(first + second) for first, second in pairs if word in (first, second)]
    usual += [form for each in joined for form in list(_forms(store, each))[:_MOST_JOINED]]
    own = dict.fromkeys((word, *usual))
    others = {other: None for each in (root, *joined) for other in RELATED.get(each, ())}
    related = [form for other in others for form in list(_forms(store, other))[:_MOST_RELATED]]
    return Word(
        word,
        tuple(f'"{form}"' for form in own),
        min(pages, number),
        (1.0, *[FORM_WORTH] * (len(own) - 1)),
        tuple(f'"{form}"' for form in dict.fromkeys(related) if form not in own),
    )


def _forms(store: SearchIndex, root: str) -> dict[str, int]:
    """The words of a stem that occur, the most usual first, and on how many pages."""
    rows = store.rows(_FORMS, (root, root + "\U0010ffff"))
    return dict(sorted(((w, n) for w, n in rows if stem(w) == root), key=lambda row: -row[1]))


def _match(words: list[Word], excluded: Iterable[Term], sites: Iterable[int] | None) -> str:
    """The phrases of the words come first: they are counted by their numbers."""
    wanted = " OR ".join(_asked(word) for word in words)
    match = f"({wanted})"
    if sites is not None:
        named = " OR ".join(f'"{site_token(site)}"' for site in sites) or '"s0"'
        match = f"({match} AND site : ({named}))"
    left_out = " OR ".join(term.quoted for term in excluded)
    return f"{match} NOT ({left_out})" if left_out else match


def _asked(word: Word) -> str:
    """What means the same is looked for where a page says what it is about: in texts it is anywhere."""
    own = " OR ".join(word.forms)
    return f"{own} OR {{title heads lead}} : ({' OR '.join(word.related)})" if word.related else own


class _Counter:
    """Called by FTS5 for each candidate."""

    def __init__(self, words: list[Word]) -> None:
        self._words = words
        self._hits: list[Hit] = []
        self.averages: dict[str, tuple[float, ...]] = {}
        self._table = ""

    def gathered(self, store: SearchIndex, table: str, match: str, most: int) -> list[Hit]:
        self._hits, self._table = [], table
        self.averages[table] = (1.0,) * len(FIELDS)
        # The weights of the first choice: site, title, headings, beginning, text.
        statement = (
            f"SELECT rowid, sumi_count({table}) FROM {table} WHERE {table} MATCH ? "  # noqa: S608
            "AND rank MATCH 'bm25(0.0, 4.0, 3.0, 1.0, 1.0)' ORDER BY rank LIMIT ?"
        )
        store.rows(statement, (match, most))
        return self._hits

    def __call__(self, api: apsw.FTS5ExtensionApi, *_: object) -> int:
        if not self._hits:
            rows = max(1, api.row_count)
            self.averages[self._table] = tuple(
                max(1.0, api.column_total_size(column) / rows) for column in _SHOWN
            )
        number = 0
        counts: list[tuple[float, ...]] = []
        related: list[tuple[float, ...]] = []
        places: list[tuple[int, ...]] = []
        for word in self._words:
            own, other = _NONE, _NONE
            spots: list[int] = []
            for worth in (*word.worth, *[0.0] * len(word.related)):
                found = api.phrase_locations(number)
                number += 1
                if any(found):
                    often = [len(found[at]) for at in _SHOWN]
                    if worth:
                        own = tuple(before + worth * more for before, more in zip(own, often, strict=True))
                    else:
                        other = tuple(map(add, other, often))
                    spots += found[_BODY][:_MOST_PLACES]
            counts.append(own)
            related.append(other)
            places.append(tuple(spots))
        sizes = tuple(map(api.column_size, _SHOWN))
        self._hits.append(Hit(api.rowid, sizes, tuple(counts), tuple(related), tuple(places)))
        return 0
