"""Distances packed into one number behave as the lists they stand for; each page has the last one set."""

from hypothesis import given
from hypothesis import strategies as st

from sumi.jobs.map.store.depths import FAR, PageVectors, Vectors

distances = st.one_of(st.integers(0, 40), st.integers(0, FAR - 1), st.just(FAR))


@given(
    st.integers(1, 12).flatmap(lambda n: st.lists(st.tuples(distances, distances), min_size=n, max_size=n))
)
def test_packed_distances_behave_as_lists(both: list[tuple[int, int]]) -> None:
    one, other = [list(side) for side in zip(*both, strict=True)]
    vectors = Vectors(len(both))
    packed, told = vectors.of(dict(enumerate(one))), vectors.further(vectors.of(dict(enumerate(other))))
    assert list(vectors.depths(packed)) == one
    expected = [min(mine, theirs + 1) for mine, theirs in both]
    assert list(vectors.depths(vectors.nearer(packed, told))) == expected
    nothing_new = ((told | vectors.guards) - packed) & vectors.guards == vectors.guards
    assert nothing_new == (expected == one)
    vectors.forget()
    assert list(vectors.depths(vectors.nowhere)) == [FAR] * len(both)


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
def test_without_room_all_are_dropped(there: dict[int, int]) -> None:
    kept = PageVectors(origins=2, most_bytes=1)
    for page, vector in there.items():
        kept[page] = vector
    kept.forget_if_full()
    assert kept.missing(there) == there.keys()
    page, vector = next(iter(there.items()))
    kept[page] = vector
    assert kept[page] == vector
