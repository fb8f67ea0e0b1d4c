"""Globs mean what their description says, and take a number of steps proportional to the path."""

import sys
from functools import cache
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.policy import Preset
from sumi.scope.patterns import Glob
from sumi.urls import normalize, split


@pytest.mark.parametrize(
    ("pattern", "path", "taken"),
    [
        ("/docs/*", "/docs/a", True),
        ("/docs/*", "/docs/", True),
        ("/docs/*", "/docs/a/b", False),
        ("/docs/**", "/docs/a/b", True),
        ("/docs/**", "/docs/", True),
        ("/docs/**", "/docs", True),
        ("/docs/**", "/docs-old", False),
        ("/docs**", "/docs-old/a", True),
        ("/docs/**/**", "/docs", True),
        ("/a/**/b", "/a/b", True),
        ("/a/**/b", "/a/x/y/b", True),
        ("/a/**/b", "/ab", False),
        ("/a/**/**/b", "/a/b", True),
        ("/a/***/b", "/a/b", True),
        ("*.pdf", "/a.pdf", True),
        ("*.pdf", "/x/y/a.pdf", True),
        ("*.pdf", "/x/a.pdf/b", False),
        ("**/*.pdf", "/a.pdf", True),
        ("tag/*", "/tag/x", True),
        ("tag/*", "/en/tag/x", True),
        ("tag/*", "/mytag/x", False),
        ("/v?/x", "/v1/x", True),
        ("/v?/x", "/v/x", False),
        ("/a?b", "/a/b", False),
        ("/a+b(c)[d]$", "/a+b(c)[d]$", True),
        ("/a.c", "/abc", False),
        ("/ü/*", "/%C3%BC/x", True),
        ("/%c3%bc/%41*", "/%C3%BC/Ab", True),
        ("/a b", "/a%20b", True),
        ("/A", "/a", False),
    ],
)
def test_globs(pattern: str, path: str, taken: bool) -> None:
    assert Glob(pattern).matches(path) is taken


def described(pattern: str, path: str) -> bool:
    """The meaning of a glob by trying everything: exponential, and too simple to be wrong."""

    @cache
    def rest(at: int, here: int) -> bool:
        tail = pattern[at:]
        if not tail:
            return here == len(path)
        if tail.startswith("/**/") and path[here : here + 1] == "/" and rest(at + 4, here + 1):
            return True
        if tail == "/**" and here == len(path):
            return True
        if tail.startswith("**"):
            return rest(at + 2, here) or (here < len(path) and rest(at, here + 1))
        if tail[0] == "*":
            return rest(at + 1, here) or (here < len(path) and path[here] != "/" and rest(at, here + 1))
        if here == len(path):
            return False
        return (tail[0] == path[here] or (tail[0] == "?" and path[here] != "/")) and rest(at + 1, here + 1)

    return rest(0, 0)


@st.composite
def glob_patterns(draw: st.DrawFn) -> str:
    """Anchored, with no runs side by side: what more there is to write is shorthand for one of these."""
    pieces = draw(st.lists(st.sampled_from(["/", "a", "b", "?", "*", "**", "/**/"]), max_size=8))
    pattern = draw(st.sampled_from(["/", "**", "**/*"]))
    for piece in pieces:
        if not (piece.startswith(("*", "/*")) and pattern.endswith(("*", "*/"))):
            pattern += piece
    return pattern


@given(glob_patterns(), st.lists(st.sampled_from("/ab"), max_size=10).map(lambda chars: "/" + "".join(chars)))
def test_globs_take_what_their_description_takes(pattern: str, path: str) -> None:
    assert Glob(pattern).matches(path) == described(pattern, path)


def calls_made(pattern: str, path: str) -> int:
    """Python and C calls of a first match, when nothing is remembered yet: every step makes at least one."""
    glob = Glob(pattern)
    calls = 0

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        glob.matches(path)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    "pattern", ["/" + "*a" * 400 + "*b", "/" + "**a" * 300 + "?b", "**/" * 300 + "b", "?" * 900]
)
@pytest.mark.parametrize("unit", ["a", "/a", "ab/", "x"])
def test_steps_grow_no_faster_than_the_path(pattern: str, unit: str) -> None:
    for size in (1_000, 10_000):
        # The path ends as the patterns do, so that none is refused at a glance.
        calls = calls_made(pattern, "/" + unit * (size // len(unit)) + "/b")
        assert calls < 10 * size + 100
        assert calls > size or unit != "a"


def test_the_cache_of_transitions_is_bounded() -> None:
    glob = Glob("**a" + "?" * 40 + "/")
    state = 1
    for _ in range(60):
        path = ""
        for _ in range(300):
            state = state * 6364136223846793005 % (1 << 64) + 1
            path += "ab"[state >> 40 & 1]
        assert not glob.matches(path)
        assert glob.matches(path + "a" + "b" * 40 + "/")
    assert len(glob._met) <= 5_000


@given(st.text(max_size=8))
def test_a_path_written_out_is_a_pattern_for_itself(text: str) -> None:
    url = normalize("http://h/" + text.replace("?", "").replace("#", ""), Preset.MAP)
    plain = "/" + text
    if url is None or set(plain) & set("*?#\\\t\r\n%") or "/." in plain or plain.endswith((" ", "/")):
        return
    if split(url).path == "/" or any(ord(char) <= 32 for char in plain):
        return
    assert Glob(plain).matches(split(url).path)
