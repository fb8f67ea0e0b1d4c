"""Sections, joined, are the page again; their names stay while the headings above them do."""

from hypothesis import given
from hypothesis import strategies as st

from sumi.corpus.sections import LONGEST, section_ids, sections

LINES = st.one_of(
    st.sampled_from(
        [
            "",
            "# One",
            "## Two ##",
            "###### Six",
            "#no heading",
            "```",
            "````",
            "~~~ py",
            "| a | b |",
            "    code",
        ]
    ),
    st.text(max_size=30),
    st.integers(1, 900).map(lambda number: "word " * number),
    st.just("x" * (LONGEST + 7)),
)
PAGES = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(LINES, max_size=25),
    st.sampled_from(["", "\n", "\n\n"]),
)


@given(PAGES)
def test_joined_they_are_the_page(page: str) -> None:
    cut = sections(page)
    assert "".join(section.text for section in cut) == page
    data = page.encode("utf-8", "replace")
    assert all(0 < len(section.text) <= LONGEST for section in cut)
    for section in cut:
        piece = data[section.start : section.start + section.length]
        assert piece == section.text.encode("utf-8", "replace")


@given(PAGES)
def test_ids_are_different_and_stay(page: str) -> None:
    ids = section_ids("https://e.org/", sections(page))
    assert len(set(ids)) == len(ids)
    assert ids == section_ids("https://e.org/", sections(page))


def test_headings_and_trails() -> None:
    page = "intro\n# A [link](http://x/(y)) and `code`\na\n## B\nb\n```\n# no heading\n```\n"
    page += "## C\\_d ##\nc\n# E\n"
    found = [(section.level, section.trail) for section in sections(page)]
    top = "A link and code"
    assert found == [(0, ()), (1, (top,)), (2, (top, "B")), (2, (top, "C_d")), (1, ("E",))]


def test_long_sections_are_cut_at_empty_lines_outside_code() -> None:
    block = "```\n" + "code\n\n" * 300 + "```\n\n"
    paragraph = "word " * 300 + "\n\n"
    cut = sections("# A\n\n" + (paragraph + block) * 4)
    assert len(cut) == 4
    for section in cut:
        assert section.text.count("```") % 2 == 0
        assert section.text.endswith("\n\n")
    assert [section.part for section in cut] == list(range(len(cut)))


def test_a_paragraph_that_fits_is_not_cut_to_fill_the_section_before_it() -> None:
    beginning, paragraph = "# A\n\nA beginning.\n\n", "word\n" * (LONGEST // 5) + "\n"
    assert sections(beginning + paragraph)[0].text == beginning


def test_an_edit_changes_no_other_sections_name() -> None:
    before = "# A\none\n## B\ntwo\n## C\nthree\n"
    after = "# A\none\n## New\nzero\n## B\ntwo and a half\n## C\nthree\n"
    url = "https://e.org/"
    assert set(section_ids(url, sections(before))) < set(section_ids(url, sections(after)))
