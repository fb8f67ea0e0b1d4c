"""Whatever a server says about caching becomes one number of seconds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.frontier.freshness import varied_by, vouched_seconds

NOW = 1_800_000_000.0
DATE = "Fri, 15 Jan 2027 08:00:00 GMT"  # NOW
HOUR_LATER = "Fri, 15 Jan 2027 09:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"cache-control": "public"}, None),
        ({"cache-control": "s-maxage=60"}, None),
        ({"cache-control": "max-age=60"}, 60),
        ({"cache-control": "public, Max-Age = 60 , immutable"}, 60),
        ({"cache-control": 'max-age="60"'}, 60),
        ({"cache-control": "max-age=60", "age": "20"}, 40),
        ({"cache-control": "max-age=60", "age": "90"}, 0),
        ({"cache-control": "max-age=60", "expires": "0"}, 60),
        ({"cache-control": "max-age=-1"}, 0),
        ({"cache-control": "max-age"}, 0),
        ({"cache-control": "max-age=many"}, 0),
        ({"cache-control": "no-cache, max-age=60"}, 0),
        ({"cache-control": 'no-cache="set-cookie"'}, 0),
        ({"cache-control": "no-store"}, 0),
        ({"cache-control": "my-no-store-of-things"}, None),
        ({"pragma": "no-cache"}, 0),
        ({"pragma": "no-cache", "cache-control": "max-age=60"}, 60),
        ({"vary": "*", "cache-control": "max-age=60"}, 0),
        ({"vary": "accept, *", "cache-control": "max-age=60"}, 0),
        ({"vary": "accept-encoding"}, None),
        ({"expires": HOUR_LATER}, 3600),
        ({"expires": HOUR_LATER, "date": HOUR_LATER}, 0),
        ({"expires": HOUR_LATER, "date": "nonsense"}, 3600),
        ({"expires": DATE}, 0),
        ({"expires": "0"}, 0),
    ],
)
def test_how_long_a_server_vouches(headers: dict[str, str], seconds: float | None) -> None:
    assert vouched_seconds(tuple(headers.items()), NOW) == seconds


def test_of_several_fields_every_one_counts() -> None:
    assert vouched_seconds((("cache-control", "max-age=60"), ("cache-control", "no-cache")), NOW) == 0


def test_all_vary_fields_count() -> None:
    headers = (("vary", "Accept, User-Agent,"), ("age", "cookie"), ("vary", " COOKIE "))
    assert varied_by(headers) == {"accept", "user-agent", "cookie"}
    assert varied_by(()) == frozenset()


names = st.sampled_from(["cache-control", "expires", "date", "age", "pragma", "vary"])
values = st.text(st.characters(max_codepoint=255)) | st.from_regex(r"(max-age|no-cache|[a-z-]+)=?[0-9\"]*,?")


@given(st.lists(st.tuples(names, values)), st.floats(0, 4e9))
def test_whatever_is_written_there_is_a_number_or_nothing(headers: list[tuple[str, str]], now: float) -> None:
    seconds = vouched_seconds(tuple(headers), now)
    assert seconds is None or seconds >= 0
