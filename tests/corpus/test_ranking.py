"""Ranking is a function of counts: no database, no clock, and every score is between the same bounds."""

from hypothesis import given
from hypothesis import strategies as st

from sumi.corpus.ranking import Hit, Hits, PageFacts, RankedPage, Word, closeness, rank

WORDS = [Word("sort", ('"sort"',), 10), Word("list", ('"list"',), 300)]
AVERAGES = (5.0, 10.0, 60.0, 500.0)


NONE = (0.0,) * 4


def hit(
    row: int,
    sort: tuple[float, ...],
    other: tuple[float, ...],
    size: int = 500,
    places: tuple[tuple[int, ...], ...] = (),
) -> Hit:
    return Hit(row, (5, 10, 60, size), (sort, other), (NONE, NONE), places)


def ranked(
    sections: list[Hit], pages: list[Hit], facts: dict[int, PageFacts] | None = None
) -> list[RankedPage]:
    known = {row.row: PageFacts("A page", "/page", 0.0) for row in (*sections, *pages)} | (facts or {})
    hits = Hits(WORDS, 1000, sections, pages, AVERAGES, AVERAGES)
    return rank(hits, {each.row: each.row for each in sections}, known)


def test_both_words_are_better_than_one_of_them_often() -> None:
    both, often = hit(1, (0, 0, 0, 1), (0, 0, 0, 1)), hit(2, (0, 0, 0, 0), (0, 0, 0, 9))
    assert [page.page for page in ranked([both, often], [both, often])] == [1, 2]


def test_a_rare_word_does_not_outweigh_two_usual_ones() -> None:
    words = [*WORDS, Word("order", ('"order"',), 300)]
    once = (0.0, 0.0, 0.0, 1.0)
    rare = hit(1, NONE, NONE)._replace(counts=(once, NONE, NONE), related=(NONE,) * 3)
    usual = hit(2, NONE, NONE)._replace(counts=(NONE, once, once), related=(NONE,) * 3)
    known = {row: PageFacts("A page", "/page", 0.0) for row in (1, 2)}
    hits = Hits(words, 1000, [], [rare, usual], AVERAGES, AVERAGES)
    assert [page.page for page in rank(hits, {}, known)] == [2, 1]


def test_a_title_counts_more_than_a_text() -> None:
    title, text = hit(1, (1, 0, 0, 0), (0, 0, 0, 0)), hit(2, (0, 0, 0, 1), (0, 0, 0, 0))
    assert [page.page for page in ranked([], [text, title])] == [1, 2]


def test_words_that_stand_together_count_more() -> None:
    near = hit(1, (0, 0, 0, 1), (0, 0, 0, 1), places=((4,), (5,)))
    apart = hit(2, (0, 0, 0, 1), (0, 0, 0, 1), places=((4,), (90,)))
    assert [page.page for page in ranked([apart, near], [])] == [1, 2]


def test_lists_of_links_and_notes_on_releases_come_later() -> None:
    same = [hit(row, (0, 0, 0, 2), (0, 0, 0, 2)) for row in (1, 2, 3)]
    facts = {
        1: PageFacts("Index", "/genindex", 0.9),
        2: PageFacts("What's New in 2.3", "/whatsnew/2.3", 0.0),
        3: PageFacts("Sorting", "/howto", 0.0),
    }
    assert ranked(same, same, facts)[0].page == 3


def test_a_word_that_means_the_same_counts_less_than_the_word_however_often_it_is_there() -> None:
    word = hit(1, (0, 0, 0, 9), NONE)
    often = hit(2, NONE, NONE)._replace(related=((0, 0, 0, 50), NONE))
    neither = hit(3, NONE, NONE)
    found = [page.page for page in ranked([], [neither, often, word])]
    assert found == [1, 2, 3]


def test_a_page_that_is_named_as_the_question_is_before_one_with_a_longer_title() -> None:
    short, long = hit(2, (1, 0, 0, 1), (1, 0, 0, 1)), hit(1, (1, 0, 0, 1), (1, 0, 0, 1))
    short = short._replace(sizes=(2, 10, 60, 500))
    assert [page.page for page in ranked([], [long, short])] == [2, 1]


def test_the_beginning_of_a_page_says_what_it_is_about() -> None:
    begins, has = hit(2, (0, 0, 1, 1), (0, 0, 1, 1)), hit(1, (0, 0, 0, 2), (0, 0, 0, 2))
    assert [page.page for page in ranked([], [has, begins])] == [2, 1]


COUNTS = st.tuples(*(st.floats(0, 1e6) for _ in range(4)))
HITS = st.builds(
    Hit,
    st.integers(1, 50),
    st.tuples(*(st.integers(0, 10**6) for _ in range(4))),
    st.tuples(COUNTS, COUNTS),
    st.tuples(COUNTS, COUNTS),
    st.lists(st.lists(st.integers(0, 10**6), max_size=5).map(tuple), max_size=3).map(tuple),
)


@given(
    st.lists(HITS, max_size=20, unique_by=lambda each: each.row),
    st.lists(HITS, max_size=20, unique_by=lambda each: each.row),
)
def test_every_page_once_and_in_order(sections: list[Hit], pages: list[Hit]) -> None:
    found = ranked(sections, pages)
    assert {page.page for page in found} == {each.row for each in (*sections, *pages)}
    assert [page.score for page in found] == sorted((page.score for page in found), reverse=True)
    assert all(-2 < page.score < 20 for page in found)


@given(st.lists(st.lists(st.integers(0, 1000), max_size=10), max_size=5))
def test_closeness_is_a_share(places: list[list[int]]) -> None:
    assert 0 <= closeness(places) <= 1


def test_closeness_of_neighbours_is_whole() -> None:
    assert closeness([[4], [5], [6]]) == 1.0
    assert closeness([[4], [90]]) < 0.1
