"""The parts of a normalized URL are those the parser sees, and put together they are the URL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.policy import Preset
from sumi.urls import UrlParts, host_key, normalize, origin, split

segments = st.text("abAB01-._~%;:@!", max_size=6)
urls = st.builds(
    lambda scheme, host, port, path, query: f"{scheme}://{host}{port}/{'/'.join(path)}{query}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(["e.com", "localhost", "[::1]", "127.0.0.1", "a-b.example.org"]),
    st.sampled_from(["", ":0", ":80", ":443", ":8080", ":65535"]),
    st.lists(segments, max_size=4),
    st.sampled_from(["", "?a", "?a=1&b=/x?y:z@w", "?://"]),
)


@given(urls)
def test_the_parts_make_up_the_url(raw: str) -> None:
    url = normalize(raw, Preset.MIRROR)
    assert url is not None
    parts = split(url)
    authority = host_key(url)
    assert origin(url) == f"{parts.scheme}://{authority}"
    assert authority in (parts.host, f"{parts.host}:{parts.port}")
    assert url == origin(url) + parts.path + (f"?{parts.query}" if parts.query else "")


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://e.com/", UrlParts("http", "e.com", 80, "/", "")),
        ("https://e.com/a/b?c=/d?e", UrlParts("https", "e.com", 443, "/a/b", "c=/d?e")),
        ("https://[::1]:8443/a", UrlParts("https", "[::1]", 8443, "/a", "")),
        ("https://[::1]/a", UrlParts("https", "[::1]", 443, "/a", "")),
        ("http://e.com:0/", UrlParts("http", "e.com", 0, "/", "")),
    ],
)
def test_split(url: str, parts: UrlParts) -> None:
    assert split(url) == parts


@pytest.mark.parametrize(
    ("url", "key", "site"),
    [
        ("http://e.com/a:1/b", "e.com", "http://e.com"),
        ("https://e.com/", "e.com", "https://e.com"),
        ("http://e.com:8080/a", "e.com:8080", "http://e.com:8080"),
        ("http://h/", "h", "http://h"),
    ],
)
def test_http_and_https_of_a_host_are_paced_as_one(url: str, key: str, site: str) -> None:
    assert host_key(url) == key
    assert origin(url) == site


@given(st.text(max_size=20))
def test_text_that_is_not_a_url_does_no_harm(text: str) -> None:
    assert isinstance(split(text), UrlParts)
    assert isinstance(host_key(text), str)
    assert isinstance(origin(text), str)
