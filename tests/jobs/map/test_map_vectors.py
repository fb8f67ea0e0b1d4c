"""Distances packed into one number compare, grow and meet as the lists of numbers that they stand for."""

from hypothesis import given
from hypothesis import strategies as st

from sumi.jobs.map.store.depths import FAR, Vectors

distances = st.one_of(st.integers(0, 40), st.integers(0, FAR - 1), st.just(FAR))


@given(
    st.integers(1, 12).flatmap(lambda n: st.lists(st.tuples(distances, distances), min_size=n, max_size=n))
)
def test_as_lists_of_distances_do(both: list[tuple[int, int]]) -> None:
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
