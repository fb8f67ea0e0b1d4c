"""What stands on nearly every page of a site is furniture, and nothing else is taken off a page."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from sumi.parse.markdown.site_furniture import (
    FEWEST_PAGES,
    NOTHING_LEARNT,
    Site,
    blocks_of,
    junk_share,
    without_furniture,
)

TOP = "Inkpot [Home](https://e.org/p/{n}/../) **Guide** [About](https://e.org/about)"
END = "Was this page helpful?\n\n- [Newsletter](https://e.org/?from={n})\n- Made by Inkpot"
CODE = "```sh\nmake all\n\nmake test\n```"


def page(n: int, text: str = "") -> str:
    own = text or f"Page {n} says what no other does."
    return f"{TOP.format(n=n)}\n\n# Ink number {n}\n\n{own}\n\n## See also\n\n{CODE}\n\n{END.format(n=n)}\n"


def site_of(pages: list[str]) -> Site:
    site = Site()
    for text in pages:
        site.add(blocks_of(text))
    return site


def test_what_all_pages_begin_and_end_with_is_taken_off() -> None:
    pages = [page(n) for n in range(FEWEST_PAGES)]
    furniture = site_of(pages).furniture()
    taken = without_furniture(blocks_of(pages[3]), furniture.constant)
    assert taken is not None
    assert taken.markdown == f"# Ink number 3\n\nPage 3 says what no other does.\n\n## See also\n\n{CODE}\n"
    assert taken.words == 12
    assert without_furniture(blocks_of(taken.markdown), furniture.constant) is None


def test_few_pages_teach_nothing() -> None:
    assert site_of([page(n) for n in range(FEWEST_PAGES - 1)]).furniture() is NOTHING_LEARNT


def test_a_page_that_would_be_left_with_a_title_alone_stays_whole() -> None:
    pages = [f"# Page {n}\n\nText of every page.\n" for n in range(20)]
    furniture = site_of(pages).furniture()
    assert without_furniture(blocks_of(pages[0]), furniture.constant) is None
    assert junk_share(blocks_of(pages[0]), furniture.usual) == round(4 / 6, 4)


def test_what_stands_in_the_midst_of_pages_is_counted_and_kept() -> None:
    pages = [f"# F{n}\n\nDoes {n}.\n\n## Returns\n\nNone, always.\n\nSince {n}.\n" for n in range(20)]
    furniture = site_of(pages).furniture()
    assert without_furniture(blocks_of(pages[0]), furniture.constant) is None
    assert junk_share(blocks_of(pages[0]), furniture.usual) == round(3 / 8, 4)


def test_a_list_of_which_a_line_is_its_own_is_kept_whole() -> None:
    pages = [page(n) + f"- Version {n}\n" for n in range(20)]
    furniture = site_of(pages).furniture()
    taken = without_furniture(blocks_of(pages[1]), furniture.constant)
    assert taken is not None
    assert taken.markdown.endswith(
        "Was this page helpful?\n\n- [Newsletter](https://e.org/?from=1)\n- Made by Inkpot\n- Version 1\n"
    )


def furnished(pages: list[str]) -> str | None:
    """The first page without what they have in common."""
    furniture = site_of(pages).furniture()
    taken = without_furniture(blocks_of(pages[0]), furniture.constant, is_of_few=furniture.is_of_few)
    return None if taken is None else taken.markdown


def test_a_place_that_the_page_leads_to_is_kept() -> None:
    end = '<a id="end"></a>The end of all.'
    assert furnished([f"# Page {n}\n\nText {n}, [below](#end).\n\n{end}\n" for n in range(20)]) is None


def test_a_place_that_is_on_every_page_and_led_to_by_none_goes() -> None:
    pages = [f'<a id="top"></a>Inkpot\n\n# Page {n}\n\nText {n}.\n' for n in range(20)]
    assert furnished(pages) == "# Page 0\n\nText 0.\n"


def test_places_of_different_names_are_not_the_same_line() -> None:
    assert furnished([f'# P{n}\n\nText {n}.\n\n<a id="end{n}"></a>The end.\n' for n in range(20)]) is None


BAR = "Inkpot, [ink](/ink) and [stones](/stones)"
SENTENCE = "Whoever grinds ink by hand should know that the water matters more than the stone and the arm."


def test_on_a_small_site_only_short_lines_of_every_page_are_furniture() -> None:
    small = range(FEWEST_PAGES)
    pages = [f"{BAR}\n\n# Page {n}\n\nText {n}.\n\n{SENTENCE}\n\nMade by hand\n" for n in small]
    assert furnished(pages) == f"# Page 0\n\nText 0.\n\n{SENTENCE}\n"
    assert furnished([text.removeprefix(f"{BAR}\n\n") for text in pages]) is None
    assert furnished([text.replace(BAR, "- [Text of it](#text)") for text in pages]) is None
    other = f"{BAR}\n\n# Other\n\nText of another.\n\nMade by machine\n"
    assert furnished([*pages[1:], other]) == f"# Page 1\n\nText 1.\n\n{SENTENCE}\n\nMade by hand\n"


@given(st.integers(FEWEST_PAGES, 30), st.randoms(use_true_random=False))
def test_the_order_of_pages_and_what_was_taken_off_before_change_nothing(number: int, random: Random) -> None:
    pages = [page(n) for n in range(number)]
    furniture = site_of(pages).furniture()
    mixed = random.sample(pages, number)
    again = Site()
    for text in mixed:
        taken = without_furniture(blocks_of(text), furniture.constant) if random.random() < 0.5 else None
        if taken is None:
            again.add(blocks_of(text))
        else:
            again.add(blocks_of(taken.markdown), taken.lines)
    assert again.furniture() == furniture


WORDS = st.sampled_from(
    ["ink", "pot", "guide", "`a`", "# x", "## y", "- item", "```", "~~~", "> q", "", "1. z"]
)


@given(st.lists(WORDS, max_size=30), st.lists(WORDS, max_size=30))
def test_no_line_is_lost_that_other_pages_lack(lines: list[str], others: list[str]) -> None:
    markdown = "\n".join(lines).strip("\n") + "\n"
    site = site_of(["\n".join(others)] * 20)
    blocks = blocks_of(markdown)
    assert "\n\n".join(block.text for block in blocks).split() == markdown.split()
    taken = without_furniture(blocks, site.furniture().constant)
    if taken is not None:
        kept = {line for block in blocks_of(taken.markdown) for line in block.lines}
        own = {line for block in blocks for line in block.lines} - site.furniture().constant
        assert own <= kept


def test_a_title_in_bold_is_no_repetition_of_the_link_to_it() -> None:
    bar = "\n\n".join(f"[Part {n}](/{n})" for n in range(9))
    pages = [f"{bar}\n\n**Part {n}**\n\nText {n}.\n" for n in range(9)]
    assert furnished(pages) == "**Part 0**\n\nText 0.\n"
