"""A map's distances are those that were last set for each page, until all are forgotten together."""

from hypothesis import given
from hypothesis import strategies as st

from sumi.jobs.map.store.depths import PageVectors

pages = st.integers(0, 50_000)
vectors = st.integers(0, 2**40)


@given(st.dictionaries(pages, vectors), st.dictionaries(pages, vectors), st.sets(pages))
def test_each_page_has_what_was_last_set(
    first: dict[int, int], then: dict[int, int], asked: set[int]
) -> None:
    kept = PageVectors(origins=2, most_bytes=10**9)
    for page, vector in [*first.items(), *then.items()]:
        kept[page] = vector
    kept.forget_if_full()
    expected = first | then
    assert {page: kept[page] for page in expected} == expected
    assert kept.missing(asked) == asked - expected.keys()


@given(st.dictionaries(pages, vectors, min_size=1))
def test_when_there_is_no_room_all_are_forgotten(there: dict[int, int]) -> None:
    kept = PageVectors(origins=2, most_bytes=1)
    for page, vector in there.items():
        kept[page] = vector
    kept.forget_if_full()
    assert kept.missing(there) == there.keys()
    page, vector = next(iter(there.items()))
    kept[page] = vector
    assert kept[page] == vector
