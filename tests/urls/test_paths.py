"""A URL's file path is readable, always the same, valid on every common file system, and inside its root."""

import re
from hashlib import md5

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sumi.urls.paths import host_folder, page_path


def q(query: str) -> str:
    return "__q_" + md5(query.encode()).hexdigest()[:8]


READABLE = [
    ("https://example.com", "example.com/index.md"),
    ("https://example.com/", "example.com/index.md"),
    ("https://example.com/docs", "example.com/docs/index.md"),
    ("https://example.com/docs/", "example.com/docs/index.md"),
    ("https://example.com/docs/a.html", "example.com/docs/a.html/index.md"),
    ("https://example.com/docs/a.html#part", "example.com/docs/a.html/index.md"),
    ("https://example.com/users?page=2", f"example.com/users{q('page=2')}/index.md"),
    ("https://example.com/users/?page=2", f"example.com/users{q('page=2')}/index.md"),
    ("https://example.com/?page=2", f"example.com/{q('page=2')}/index.md"),
    ("https://example.com?page=2", f"example.com/{q('page=2')}/index.md"),
    ("https://example.com/x?", "example.com/x/index.md"),
    ("https://example.com/x?a=/../b", f"example.com/x{q('a=/../b')}/index.md"),
    ("https://EXAMPLE.com/A", "example.com/A/index.md"),
    ("http://example.com:80/a", "example.com/a/index.md"),
    ("https://example.com:443/a", "example.com/a/index.md"),
    ("https://example.com:8443/a", "example.com_8443/a/index.md"),
    ("http://example.com:443/a", "example.com_443/a/index.md"),
    ("http://user:secret@example.com/a", "example.com/a/index.md"),
    ("http://127.0.0.1:8080/", "127.0.0.1_8080/index.md"),
    ("http://[2001:db8::1]/a", "ipv6-2001-db8--1/a/index.md"),
    ("http://[::1]:8080/a", "ipv6---1_8080/a/index.md"),
    ("https://example.com/a%20b", "example.com/a_b/index.md"),
    ("https://example.com/%E6%97%A5%E6%9C%AC", "example.com/日本/index.md"),
    ("https://example.com/%F0%9F%8E%89", "example.com/🎉/index.md"),
    ("https://example.com/a//b", "example.com/a/b/index.md"),
]

DISARMED = [
    ("/a%2Fb", "a_b"),
    ("/a%5Cb", "a_b"),
    ("/..", "%5F_"),
    ("/%2e%2e/etc", "%5F_/etc"),
    ("/x/%2e%2e/etc", "x/__/etc"),
    ("/x/%2E/etc", "x/_/etc"),
    ("/x/..%2f..%2fetc", "x/%2E._.._etc"),
    ("/x/%252e%252e", "x/%2e%2e"),
    ("/x/%00", "x/_"),
    ("/x/a%00.md", "x/a_.md"),
    ("/x/a%0D%0Ab", "x/a__b"),
    ("/x/%E2%80%AEcod.exe", "x/_cod.exe"),
    ("/x/%FF%FE", "x/__"),
    ('/x/<>:"|*', "x/______"),
    ("/x/name.", "x/name_"),
    ("/x/name%20", "x/name_"),
    ("/x/...", "x/___"),
    ("/x/CON", "x/CON_"),
    ("/x/aux.txt", "x/aux_.txt"),
    ("/x/Lpt1.tar.gz", "x/Lpt1_.tar.gz"),
    ("/x/com¹", "x/com¹_"),
    ("/x/console", "x/console"),
    ("/x/index.md", "x/index%2Emd"),
    ("/x/Index.MD", "x/Index%2EMD"),
    ("/index.md", "index%2Emd"),
    ("/_manifest.json", "%5Fmanifest.json"),
    ("/_index.md", "%5Findex.md"),
    ("/_failed/x", "%5Ffailed/x"),
    ("/%5Fskipped", "%5Fskipped"),
    ("/__q_c4ca4238", "%5F_q_c4ca4238"),
    ("/x/_private", "x/_private"),
    ("/.sumi", "%2Esumi"),
    ("/.git/config", "%2Egit/config"),
    ("/x/.ssh", "x/%2Essh"),
    ("/x/--checkpoint-action=exec=sh", "x/%2D-checkpoint-action=exec=sh"),
]

ROOT_MARKS = re.compile(r"__(q_([0-9a-f]{8}|([0-9a-f]{8}_)?[0-9a-f]{16})|l_[0-9a-f]{32})")

anything = st.text(max_size=60)
segments = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "..",
            ".",
            "%2e%2e",
            "..%2f",
            "%5c..",
            "con",
            "INDEX.md",
            "_manifest.json",
            "",
            "%00",
            "é",
            "e\u0301",
        ]
    ),
    st.text(alphabet="é日🎉a.", min_size=150, max_size=320),
)
urls = st.one_of(
    anything,
    st.builds(
        lambda host, parts, query: f"https://{host}/{'/'.join(parts)}{query}",
        st.one_of(st.just("example.com"), anything),
        st.lists(segments, max_size=6),
        st.one_of(st.just(""), anything.map(lambda text: f"?{text}")),
    ),
)


def assert_portable(path: str) -> None:
    *folders, file = path.split("/")
    assert file == "index.md"
    assert len(path.encode()) <= 4000
    assert folders
    for position, folder in enumerate(folders):
        assert folder not in ("", ".", "..")
        assert folder.casefold() != "index.md"
        assert len(folder) <= 200
        assert len(folder.encode()) <= 255
        assert not set(folder) & set('<>:"\\|?*')
        assert folder.isprintable()
        assert " " not in folder
        assert not folder.startswith((".", "-"))
        assert not folder.endswith(".")
        assert folder.partition(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "LPT9"}
        if position < 2:
            assert not folder.startswith("_") or (position == 1 and ROOT_MARKS.fullmatch(folder))


@pytest.mark.parametrize(("url", "path"), READABLE)
def test_paths_follow_the_url(url: str, path: str) -> None:
    assert page_path(url) == path


@pytest.mark.parametrize(("path", "folders"), DISARMED)
def test_names_that_mean_something_else_are_disarmed(path: str, folders: str) -> None:
    assert page_path(f"https://example.com{path}") == f"example.com/{folders}/index.md"


@given(urls)
@example("https://[/")
@example("https://example.com/\ud800")
@example("https://example.com/" + "a/" * 3000)
@example("https://example.com/" + "/".join(["é" * 120] * 40) + "?q")
@example("https://" + "a" * 300 + "/")
@example("https://example.com/" + "%F0%9F%8E%89" * 100 + "?page=1")
def test_every_input_has_a_portable_path_inside_the_root(url: str) -> None:
    assert_portable(page_path(url))
    assert page_path(url) == page_path(url)
    assert page_path(url).split("/")[0] == host_folder(url)


def test_long_names_are_cut_and_stay_distinct() -> None:
    one = page_path("https://example.com/" + "日" * 150 + "1")
    two = page_path("https://example.com/" + "日" * 150 + "2")
    assert one != two
    assert one.startswith("example.com/日日日")


def test_over_long_paths_get_a_short_one_in_the_host_folder() -> None:
    one = page_path("https://example.com/" + "/".join(["x" * 190] * 30) + "/1")
    two = page_path("https://example.com/" + "/".join(["x" * 190] * 30) + "/2")
    assert one != two
    assert re.fullmatch(r"example\.com/__l_[0-9a-f]{32}/index\.md", one)


def test_a_path_of_endless_folders_costs_one_folder() -> None:
    assert page_path("https://example.com/" + "a/" * 500).count("/") == 2
