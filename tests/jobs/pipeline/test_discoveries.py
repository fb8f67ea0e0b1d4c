"""Lines of a spool, by any program, are read without losing their metadata or breaking the reader."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sumi.jobs.pipeline.discoveries import MOST_CHARACTERS, bounded, merged, read_listing

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


OBJECTS = st.dictionaries(TEXT, JSON, max_size=4)


@given(st.binary(max_size=200))
def test_no_line_of_a_spool_breaks_its_reader(line: bytes) -> None:
    found = read_listing(line)
    assert isinstance(found, str) or isinstance(found.discovery.url, str)


@given(earlier=OBJECTS, later=OBJECTS)
def test_metadata_of_a_later_line_are_merged_and_win(earlier: dict[str, Any], later: dict[str, Any]) -> None:
    texts = [bounded(said)[0] for said in (earlier, later)]
    assert json.loads(merged(*texts)) == earlier | later
    assert merged(texts[0], "") == merged("", texts[0]) == texts[0]


def test_if_not_all_metadata_fit_the_later_ones_are_kept() -> None:
    earlier, later = (json.dumps({key: key * (MOST_CHARACTERS - 100)}) for key in "ab")
    assert json.loads(merged(earlier, later)).keys() == {"b"}


def repeated(drawn: tuple[str, int]) -> str:
    text, size = drawn
    return (text * size)[:size]


@given(
    st.dictionaries(
        TEXT, st.tuples(st.text('x=é\n"', min_size=1), st.integers(2000, 6000)).map(repeated), max_size=8
    )
)
def test_metadata_are_kept_unchanged_up_to_a_limit(said: dict[str, str]) -> None:
    text, words = bounded(said)
    kept = json.loads(text) if text else {}
    assert len(text) <= MOST_CHARACTERS
    assert kept.items() <= said.items()
    assert bool(words) == (kept != said)


@given(said=JSON, url=TEXT, depth=JSON)
def test_any_object_with_a_url_is_a_listing_with_its_metadata(said: Any, url: str, depth: Any) -> None:
    found = read_listing(json.dumps({"url": url, "depth": depth, "metadata": said}).encode())
    assert not isinstance(found, str)
    assert found.discovery.url == url
    assert not said or json.loads(found.foreign) == said
