"""No two URLs ever share a file, on any disk, in any order, over any number of resumes."""

import re
import unicodedata
from collections.abc import Iterable
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.policy import Layout
from sumi.urls.paths import PathAllocator, caseless, page_path, rightful_paths

HOST = "https://example.com"

QUARRELS = [
    ("/x", "/x/", "/X", "/x?", "//x"),
    ("/a%20b", "/a_b", "/a%2Fb", "/A_B"),
    ("/u?page=5415", "/u?page=179844"),  # different queries whose hashes begin alike
    ("/caf%C3%A9", "/cafe%CC%81", "/CAF%C3%89"),
    ("/stra%C3%9Fe", "/strasse", "/STRASSE"),
    ("/index.md", "/index%252Emd", "/INDEX.MD"),
    ("/.git", "/%252Egit"),
    ("/_manifest.json", "/%255Fmanifest.json"),
    ("/..", "/%2e%2e", "/%2E%2E/", "/__"),
    ("/con", "/con_", "/CON"),
    ("/?a", "/?a#", "?a"),
]

pieces = st.sampled_from(
    [
        "x",
        "X",
        "x/",
        "",
        "a b",
        "a_b",
        "a%20b",
        "é",
        "e\u0301",
        "É",
        "ß",
        "ss",
        "..",
        "%2e%2e",
        "index.md",
        "_a",
        "?",
        "?a",
    ]
)
urls = st.lists(pieces, max_size=4).map(lambda parts: f"{HOST}/{'/'.join(parts)}")


def folded(path: str) -> str:
    return unicodedata.normalize("NFC", path.casefold())


def assert_no_two_alike(paths: Iterable[str]) -> None:
    everything = [folded(path) for path in paths]
    assert len(set(everything)) == len(everything)


def claim_all(allocator: PathAllocator, wanted: Iterable[str]) -> dict[str, str]:
    return {url: allocator.claim(url) for url in wanted}


@pytest.mark.parametrize("paths", QUARRELS, ids=lambda paths: paths[0])
def test_urls_that_want_one_path_get_one_each(paths: tuple[str, ...]) -> None:
    claimed = claim_all(PathAllocator(), [HOST + path for path in paths])
    assert_no_two_alike(claimed.values())
    assert claimed[HOST + paths[0]] == page_path(HOST + paths[0])


def test_the_second_comer_gets_a_longer_suffix() -> None:
    allocator = PathAllocator()
    allocator.claim(f"{HOST}/x?page=5415")
    allocator.claim(f"{HOST}/X?page=5415")
    mark = sha256(f"{HOST}/X?page=5415".encode()).hexdigest()[:16]
    assert allocator.claim(f"{HOST}/X?page=5415") == page_path(f"{HOST}/X?page=5415").replace(
        "/index.md", f"_{mark}/index.md"
    )


def test_a_url_without_a_query_has_no_hash_of_one() -> None:
    paths = PathAllocator()
    paths.claim(f"{HOST}/Ink")
    assert re.fullmatch(r"example\.com/ink__q_[0-9a-f]{16}/index\.md", paths.claim(f"{HOST}/ink"))


def test_a_page_named_like_the_longer_path_of_another_does_not_take_it() -> None:
    first, second = f"{HOST}/d/x", f"{HOST}/d/X"
    allocator = PathAllocator()
    allocator.claim(first)
    squatter_path = allocator.claim(second)
    squatter = f"https://{squatter_path.removesuffix('/index.md')}"

    hijacked = PathAllocator()
    assert hijacked.claim(squatter) == squatter_path
    assert_no_two_alike([squatter_path, hijacked.claim(first), hijacked.claim(second)])


def test_a_long_name_keeps_its_limits_with_the_longer_suffix() -> None:
    allocator = PathAllocator()
    wanted = [f"{HOST}/{'日' * 90}{end}" for end in ("", "/", "?", "?a", "/?a")]
    for path in claim_all(allocator, wanted).values():
        assert all(len(name.encode()) <= 255 and len(name) <= 200 for name in path.split("/"))


@given(st.lists(urls, max_size=30))
def test_all_claimed_paths_differ_and_stay(wanted: list[str]) -> None:
    allocator = PathAllocator()
    claimed = claim_all(allocator, wanted)
    assert_no_two_alike(claimed.values())
    assert claim_all(allocator, reversed(wanted)) == claimed
    assert not any(".." in path.split("/") or path.startswith("/") for path in claimed.values())


@given(st.lists(urls, max_size=20, unique=True), st.lists(urls, max_size=20, unique=True), st.randoms())
def test_a_resume_gives_the_recorded_paths_whatever_is_claimed_first(
    before: list[str], after: list[str], order: Random
) -> None:
    recorded = claim_all(PathAllocator(), before)
    kept = dict(
        order.sample(sorted(recorded.items()), k=len(recorded) // 2)
    )  # the rest was not settled in time
    resumed = PathAllocator()
    for url, path in kept.items():
        resumed.restore(url, path)
    claimed = claim_all(resumed, [*after, *before])
    assert_no_two_alike(claimed.values())
    assert {url: claimed[url] for url in kept} == kept


def test_a_recorded_longer_path_stays_though_the_plain_one_is_free_again() -> None:
    url = f"{HOST}/X"
    allocator = PathAllocator()
    allocator.claim(f"{HOST}/x")
    recorded = allocator.claim(url)
    resumed = PathAllocator()
    resumed.restore(url, recorded)
    assert resumed.claim(url) == recorded
    assert resumed.claim(f"{HOST}/x") == page_path(f"{HOST}/x")


def test_a_record_that_names_anothers_path_does_not_take_it() -> None:
    allocator = PathAllocator()
    allocator.restore(f"{HOST}/a", "example.com/a/index.md")
    allocator.restore(f"{HOST}/b", "example.com/A/index.md")
    assert allocator.claim(f"{HOST}/a") == "example.com/a/index.md"
    assert allocator.claim(f"{HOST}/b") == "example.com/b/index.md"


@given(st.lists(urls, unique=True), st.randoms())
def test_paths_do_not_depend_on_the_order_of_urls(wanted: list[str], random: Random) -> None:
    rightful = rightful_paths(wanted)
    shuffled = random.sample(wanted, len(wanted))
    assert rightful_paths(shuffled) == rightful
    assert_no_two_alike(rightful.values())
    assert rightful.keys() == set(wanted)
    for url in wanted:
        assert any(folded(page_path(url)) == folded(path) for path in rightful.values())


def test_the_shortest_url_has_the_plain_name_and_lower_case_comes_first() -> None:
    rightful = rightful_paths([f"{HOST}{path}" for path in ("/A", "/a/", "/a", "/API", "/b%20c", "/b_c")])
    plain = {url.removeprefix(HOST) for url, path in rightful.items() if path == page_path(url)}
    assert plain == {"/a", "/API", "/b_c"}


FOLDERS = {
    "https://e.org/": "e.org/index.md",
    "https://e.org/index.html": "e.org/index.md",
    "https://e.org/guide/ink.html": "e.org/guide/ink/index.md",
    "https://e.org/guide/ink.HTM?a=1": "e.org/guide/ink__q_3872c9ae/index.md",
    "https://e.org/guide/index.php": "e.org/guide/index.md",
    "https://e.org/guide/": "e.org/guide/index.md",
    "https://e.org/v1.2/ink": "e.org/v1.2/ink/index.md",
    "https://e.org/.html": "e.org/%2Ehtml/index.md",
    "https://e.org/logo.png": "e.org/logo.png/index.md",
}
FLAT = {
    "https://e.org/": "e.org/index.md",
    "https://e.org/guide/index.html": "e.org/guide/index.md",
    "https://e.org/guide/ink.html": "e.org/guide/ink.md",
    "https://e.org/guide/ink": "e.org/guide/ink.md",
    "https://e.org/guide/ink/": "e.org/guide/ink/index.md",
    "https://e.org/guide.md/ink": "e.org/guide%2Emd/ink.md",
    "https://e.org/_index": "e.org/%5Findex.md",
    "https://e.org/?a=1": "e.org/__q_3872c9ae/index.md",
}


@pytest.mark.parametrize("url", FOLDERS)
def test_folders_are_named_without_what_urls_end_with(url: str) -> None:
    assert page_path(url, Layout.FOLDERS) == FOLDERS[url]


@pytest.mark.parametrize("url", FLAT)
def test_flat_files_are_named_by_the_last_part(url: str) -> None:
    assert page_path(url, Layout.FLAT) == FLAT[url]


@pytest.mark.parametrize("layout", Layout)
def test_pages_that_would_meet_keep_what_their_urls_end_with(layout: Layout) -> None:
    urls = ["https://e.org/a/ink", "https://e.org/a/ink.html", "https://e.org/a/ink.php", "https://e.org/a/"]
    paths = rightful_paths([*urls, "https://e.org/a/index.html"], layout)
    assert len(set(map(caseless, paths.values()))) == len(paths)
    assert "/ink.html" in paths["https://e.org/a/ink.html"]
    assert "/index.html" in paths["https://e.org/a/index.html"]
    assert rightful_paths([*reversed(urls), "https://e.org/a/index.html"], layout) == paths


SEGMENTS = st.lists(st.sampled_from(["a", "a.md", "index", "index.md", "b.html", "A", "x.md.md"]), max_size=3)
URLS = st.builds(
    lambda parts, end: "https://e.org/" + "/".join(parts) + end, SEGMENTS, st.sampled_from(["", "/"])
)


@given(st.sets(URLS, max_size=12))
def test_no_flat_file_is_where_a_folder_is_needed(urls: set[str]) -> None:
    paths = [caseless(path) for path in rightful_paths(urls, Layout.FLAT).values()]
    assert len(set(paths)) == len(paths)
    folders = {path[:end] for path in paths for end in range(len(path)) if path[end] == "/"}
    assert not folders & set(paths)
