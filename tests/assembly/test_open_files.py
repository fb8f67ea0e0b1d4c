"""However few files may be open, at least one request is made at a time, and never more than possible."""

import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.assembly import parts


@given(st.integers(-1, 1 << 20), st.integers(0, 64))
def test_requests_fit_into_what_is_left(limit: int, processes: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource, "getrlimit", lambda _: (limit, limit))
        count = parts.affordable_requests(processes)
    assert count >= 1
    if count > 1 and limit > 0:
        taken = limit // 8 + limit // 4 + parts.RESERVED + 4 * processes
        assert taken + count * parts.PER_REQUEST <= limit


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((256, 4096), (4096, 4096)),
        ((256, -1), (parts.ENOUGH, -1)),
        ((1024, 1 << 20), (parts.ENOUGH, 1 << 20)),
        ((20_000, 20_000), None),
        ((-1, -1), None),
    ],
)
def test_the_limit_is_raised_as_far_as_is_useful(
    monkeypatch: pytest.MonkeyPatch, before: tuple[int, int], after: tuple[int, int] | None
) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: before)
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    parts.raise_limit()
    assert raised == ([] if after is None else [after])
