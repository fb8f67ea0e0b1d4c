"""The links of a page are those a browser would follow, however many pages of the site came before."""

from hypothesis import given
from hypothesis import strategies as st

from sumi.policy import Preset
from sumi.urls import PRESETS, LinkNormalizer, Rules, normalize_with, spelled

BASES = (
    "http://e.com/",
    "http://e.com/a/b?q=1",
    "http://e.com/a/c",
    "http://e.com/a/c/",
    "https://e.com/a/b",
    "https://u:p@e.com:8443/a//b#f",
)
NOT_PAGES = ("#", "javascript:", "mailto:", "tel:", "data:")

PREFIXES = (
    "/",
    "//",
    "\\",
    "http:",
    "https:",
    "HTTP:",
    "http://",
    "https://",
    "javascript:",
    "?",
    "?q",
    "#",
    "#f",
)
WORDS = ("e.com", "o.com", "..", ".", "a", "b.html", ":", "%2e", "é", "x@", "&", " ", "\t", "\x01", "\ud800")
pieces = st.sampled_from(PREFIXES + WORDS)
hrefs = st.lists(st.lists(pieces, max_size=5).map("".join), max_size=12)


def plain_fragment(href: str) -> str:
    """What a fragment says never matters to a link, not even if no URL could contain it."""
    bare, mark, _ = href.partition("#")
    return bare + mark


def expected_links(page: list[str], rules: Rules, base: str) -> list[str]:
    hrefs = [plain_fragment(href) for href in page if not href.startswith(NOT_PAGES)]
    links = (normalize_with(href, rules, base) for href in hrefs)
    return list(dict.fromkeys(link for link in links if link is not None))


@given(
    st.lists(st.tuples(st.sampled_from(BASES), hrefs), max_size=4), st.sampled_from(list(PRESETS.values()))
)
def test_pages_share_answers_only_where_they_agree(pages: list[tuple[str, list[str]]], rules: Rules) -> None:
    for base, page in pages:
        assert LinkNormalizer(rules, base).many(page) == expected_links(page, rules, base)
    for base, page in pages:
        assert LinkNormalizer(rules, base).many(page) == expected_links(page, rules, base)


@given(st.sampled_from(BASES), hrefs, st.sampled_from(list(PRESETS.values())))
def test_each_link_is_to_be_requested_as_it_was_first_written(
    base: str, page: list[str], rules: Rules
) -> None:
    normalizer = LinkNormalizer(rules, base)
    links = normalizer.many(page)
    first: dict[str, str] = {}
    for href in page:
        found = None if href.startswith(NOT_PAGES) else spelled(plain_fragment(href), rules, base)
        if found is not None:
            first.setdefault(found.identity, found.address)
    assert {url: normalizer.addresses.get(url, "") for url in links} == first


PLAIN = st.lists(st.text("aZ9._~+,=@-", max_size=4), max_size=5).map("/".join)


@given(
    st.sampled_from(BASES),
    st.sampled_from(["", "/", "../", "../../", "../../../../"]),
    PLAIN,
    st.sampled_from(list(PRESETS.values())),
)
def test_hrefs_of_letters_and_slashes_lead_where_the_standard_says(
    base: str, way: str, rest: str, rules: Rules
) -> None:
    href = way + rest
    assert LinkNormalizer(rules, base).many([href]) == expected_links([href], rules, base)


def test_links_are_absolute_distinct_and_in_order() -> None:
    links = LinkNormalizer(PRESETS[Preset.MIRROR], "http://e.com/a/b")
    page = [
        "c",
        "/z",
        "c#x",
        "#top",
        "mailto:a@b.c",
        "javascript:void(0)",
        "tel:1",
        "data:,x",
        "//o.com",
        "../a/c",
    ]
    assert links.many(page) == ["http://e.com/a/c", "http://e.com/z", "http://o.com/"]


def test_an_unusable_base_costs_only_the_relative_links() -> None:
    for base in ("", "about:blank", "data:text/html,x", "http://a.com/\ud800"):
        links = LinkNormalizer(PRESETS[Preset.MIRROR], base)
        assert links.many(["a", "/b", "//c.com/", "http://d.com/"]) == ["http://d.com/"]


def test_more_links_than_are_remembered_are_all_found() -> None:
    links = LinkNormalizer(PRESETS[Preset.MIRROR], "http://e.com/")
    page = [f"/{number}" for number in range(10_000)]
    expected = [f"http://e.com/{number}" for number in range(10_000)]
    assert links.many(page) == expected
    assert links.many(page + page) == expected


def test_an_overlong_href_is_not_a_link() -> None:
    links = LinkNormalizer(PRESETS[Preset.MIRROR], "http://e.com/")
    assert links.many(["/" + "a" * 10_000, "data:" + "x" * 1_000_000, "/ok"]) == ["http://e.com/ok"]


def test_a_query_alone_is_about_the_page_that_it_is_on() -> None:
    rules = PRESETS[Preset.MIRROR]
    for page in ("http://e.com/a/first", "http://e.com/a/second"):
        assert LinkNormalizer(rules, page).many(["?all=1"]) == [f"{page}?all=1"]
