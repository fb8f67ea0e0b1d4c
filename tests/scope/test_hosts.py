"""A host pattern takes the domain it names, on the ports it names, and nothing that merely looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.errors import UsageError
from sumi.scope import canonical_host_pattern
from sumi.scope.hosts import HostMatcher


@pytest.mark.parametrize(
    ("pattern", "host", "port", "taken"),
    [
        ("example.com", "example.com", 443, True),
        ("example.com", "example.com", 80, True),
        ("example.com", "example.com", 8080, False),
        ("example.com", "www.example.com", 443, False),
        ("example.com:8080", "example.com", 8080, True),
        ("example.com:8080", "example.com", 443, False),
        ("*.example.com", "example.com", 443, True),
        ("*.example.com", "blog.example.com", 443, True),
        ("*.example.com", "api.v2.example.com", 80, True),
        ("*.example.com", "evil-example.com", 443, False),
        ("*.example.com", "evilexample.com", 443, False),
        ("*.example.com", "example.com.evil", 443, False),
        ("*.example.com", "example.co", 443, False),
        ("*.example.com", "blog.example.com", 8080, False),
        ("*.example.com:8080", "blog.example.com", 8080, True),
        ("[::1]:8080", "[::1]", 8080, True),
        ("[::1]", "[::1]", 443, True),
        ("127.0.0.1", "127.0.0.1", 80, True),
    ],
)
def test_host_matches(pattern: str, host: str, port: int, taken: bool) -> None:
    assert HostMatcher([pattern]).matches(host, port) is taken


labels = st.sampled_from(["a", "b", "ab", "com"])
names = st.lists(labels, min_size=1, max_size=4).map(".".join)
ports = st.sampled_from([80, 443, 8080])
patterns = st.builds(
    "{}{}{}".format, st.sampled_from(["", "*."]), names, st.sampled_from(["", ":80", ":8080", ":443"])
)


@given(st.lists(patterns, max_size=6), names, ports)
def test_many_patterns_match_what_any_of_them_matches(many: list[str], host: str, port: int) -> None:
    assert HostMatcher(many).matches(host, port) == any(HostMatcher([p]).matches(host, port) for p in many)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Example.COM.", "example.com"),
        ("*.Bücher.example", "*.xn--bcher-kva.example"),
        ("*.example.com:8080", "*.example.com:8080"),
        ("[0:0::1]:8080", "[::1]:8080"),
        ("localhost", "localhost"),
        ("example.com:443", "example.com:443"),
    ],
)
def test_patterns_are_spelled_like_hosts(text: str, pattern: str) -> None:
    assert canonical_host_pattern(text) == pattern
    assert canonical_host_pattern(pattern) == pattern


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "*.",
        "a.*.com",
        "*a.com",
        "**.a.com",
        "http://a.com",
        "a.com/x",
        "u@a.com",
        "a b",
        "a..b",
        "[::1",
        "a.com:65536",
        "a.com:x",
        "a.com:80:90",
        "a.com:",
        "::1",
        "*.127.0.0.1",
        "*.[::1]",
        "a.com\\b",
        "\ud800",
    ],
)
def test_an_invalid_host_pattern_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(UsageError, match=r"^Host pattern .*\.$"):
        canonical_host_pattern(text)


@given(st.text(max_size=12))
def test_any_text_is_a_pattern_or_a_usage_error(text: str) -> None:
    try:
        pattern = canonical_host_pattern(text)
    except UsageError:
        return
    assert canonical_host_pattern(pattern) == pattern
