"""A question is taken apart without ever reaching FTS5's own syntax."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.corpus.query import Query, Term, parse_query
from sumi.errors import UsageError


def test_words_phrases_exclusions_and_sites() -> None:
    query = parse_query('how do I set busy_timeout "write ahead log" -python site:Docs.Example.org')
    assert [term.words for term in query.terms] == [("set",), ("busy", "timeout"), ("write", "ahead", "log")]
    assert query.excluded == (Term(("python",)),)
    assert query.sites == ("docs.example.org",)


@pytest.mark.parametrize("text", ["how do I", "the", "what is it and why"])
def test_only_stop_words_are_explained(text: str) -> None:
    with pytest.raises(UsageError, match=r"nearly every page.*double quotes"):
        parse_query(text)


@pytest.mark.parametrize("text", ["", "  ", '""', "-", "?!", "-word", "\0"])
def test_nothing_to_look_for_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="nothing to look for"):
        parse_query(text)


def test_words_that_follow_one_another_may_be_written_as_one() -> None:
    query = parse_query('back up a "time zone" -set up')
    assert query.pairs == (("back", "up"), ("up", "a"), ("a", "up"))


def test_stop_words_in_quotes_are_meant() -> None:
    assert parse_query('"with"').terms == (Term(("with",)),)


@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                HOSTILE := [
                    "NEAR(",
                    "a*",
                    "^b",
                    "{title}:",
                    "OR",
                    "AND",
                    "NOT",
                    '"',
                    "''",
                    ");--",
                    "-",
                    "site:",
                    "+",
                    "\x00",
                    "é",
                    "日本",
                ]
            ),
            max_size=8,
        ).map(" ".join),
    )
)
def test_no_text_is_a_syntax_error(text: str) -> None:
    try:
        query = parse_query(text)
    except UsageError:
        return
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    match = " OR ".join(term.quoted for term in (*query.terms, *query.excluded))
    assert list(db.execute("SELECT * FROM t WHERE t MATCH ?", (match,))) == []
    assert isinstance(query, Query)
