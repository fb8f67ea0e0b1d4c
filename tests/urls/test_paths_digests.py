"""A map of digests answers as a dict does, in a fraction of its memory."""

from hypothesis import given
from hypothesis import strategies as st

from sumi.urls.paths import DigestMap, digest_of

DIGESTS = st.one_of(st.integers(1, 20), st.integers(1, 2**64 - 1))


@given(st.lists(st.tuples(DIGESTS, DIGESTS)))
def test_it_is_a_dict(pairs: list[tuple[int, int]]) -> None:
    compact, model = DigestMap(), dict[int, int]()
    for key, value in pairs:
        assert compact.get(key, 7) == model.get(key, 7)
        assert compact.setdefault(key, value) == model.setdefault(key, value)
    assert len(compact) == len(model)
    assert all(compact.get(key, 0) == value for key, value in model.items())


def test_it_grows_and_loses_nothing() -> None:
    compact = DigestMap()
    for number in range(20_000):
        compact.setdefault(digest_of(f"/{number}"), digest_of(f"{number}"))
    assert len(compact) == 20_000
    assert all(compact.get(digest_of(f"/{n}"), 0) == digest_of(f"{n}") for n in range(20_000))
