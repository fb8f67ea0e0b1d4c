"""Parts of pages stay within their budgets, end where blocks end, and lose nothing in between."""

from hypothesis import given
from hypothesis import strategies as st

from sumi.corpus.indexed_text import indexed_page, section_anchors, shared_ending
from sumi.corpus.reading import SectionRow, fitted, headings_of
from sumi.corpus.sections import sections
from sumi.corpus.tokens import code_share, estimate
from tests.corpus.test_sections import PAGES


@given(PAGES, st.integers(1, 400))
def test_what_fits_is_a_beginning_within_the_budget(page: str, budget: int) -> None:
    shown = fitted(page, budget)
    assert page.startswith(shown)
    assert estimate(shown) <= budget
    assert shown == page or estimate(page) > budget


@given(PAGES, st.integers(2, 400))
def test_read_piece_by_piece_nothing_is_missing(page: str, budget: int) -> None:
    pieces, at = [], 0
    while at < len(page):
        piece = fitted(page[at:], budget)
        if not piece:
            assert not page[at:].strip()
            break
        pieces.append(piece)
        at += len(piece)
    assert page.startswith("".join(pieces))
    assert not page[at:].strip()


def test_cuts_fall_between_blocks() -> None:
    text = "One block.\n\n```py\nx = 1\n\ny = 2\n```\n\nThe end.\n"
    assert fitted(text, 6) == "One block.\n\n"


def test_estimates_are_by_kind_of_text() -> None:
    assert estimate("abcd" * 3) == 3
    assert estimate("```\n" + "a" * 24 + "\n```") == 11
    assert estimate("日本語") == 5
    assert estimate("") == 0


def test_the_share_of_code_is_that_of_its_blocks() -> None:
    block = "~~~\n" + "x" * 16 + "\n~~~"
    assert code_share(block) == 1.0
    assert code_share(f"{block}\n{'w' * 23}") == 0.5
    assert code_share("words") == code_share("") == 0.0


@given(PAGES)
def test_the_sections_of_an_index_are_ranges_of_the_page(page: str) -> None:
    data = page.encode("utf-8", "replace")
    shown = indexed_page(page)
    assert b"".join(data[each.start : each.start + each.length] for each in shown.sections) == data
    cut = sections(page)
    named = [a for a, each in zip(section_anchors(cut), cut, strict=True) if a and not each.part]
    assert len(named) == len(set(named))


def test_a_heading_covers_what_is_below_it() -> None:
    rows = [
        SectionRow(0, "", "", 5, 0, 10),
        SectionRow(1, "Top", "top", 1, 10, 10),
        SectionRow(2, "A", "a", 2, 20, 10),
        SectionRow(2, "A", "a", 3, 30, 10),
        SectionRow(3, "B", "b", 4, 40, 10),
        SectionRow(2, "C", "c", 5, 50, 10),
    ]
    found = {each.anchor: (each.tokens, each.start, each.end) for each in headings_of(rows)}
    assert found == {
        "": (5, 0, 10),
        "top": (15, 10, 60),
        "a": (9, 20, 50),
        "b": (4, 40, 50),
        "c": (5, 50, 60),
    }


def test_titles_lose_what_most_of_them_end_with() -> None:
    titles = [f"Page {n} — The Manual" for n in range(5)] + ["Another"]
    assert shared_ending(titles) == " — The Manual"
    assert shared_ending(titles[:3]) == ""
    assert shared_ending(["a - b", "c - d", "e", "f - g", "h"]) == ""
