"""Which URL of several with one text is the page does not depend on which response was the fastest."""

from itertools import permutations

from sumi.jobs.capture.groups import Named, chosen


def test_the_one_found_nearest_to_the_start_is_the_page_and_the_first_of_these() -> None:
    assert chosen([Named("far", 2, None), Named("near", 1, None), Named("too", 1, None)]) == "near"


def test_the_one_that_they_call_canonical_is_the_page() -> None:
    for members in permutations([Named("a", 0, "b"), Named("b", 3, "b"), Named("c", 1, None)]):
        assert chosen(members) == "b"


def test_a_canonical_url_elsewhere_has_no_say() -> None:
    assert chosen([Named("a", 0, "z"), Named("b", 0, "z")]) == "a"


def test_of_two_canonical_ones_more_voices_decide() -> None:
    assert chosen([Named("a", 0, "a"), Named("b", 0, "c"), Named("c", 0, "c")]) == "c"
