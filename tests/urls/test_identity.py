"""A URL has one identity per rule set: equal spellings agree, and normalizing twice changes nothing."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sumi.policy import Preset
from sumi.urls import (
    PRESETS,
    Rules,
    crawl_rules,
    map_rules,
    normalize,
    normalize_with,
    spelled,
)

NASTY = (
    "http://a.com/%25%32%65/%2525/%%32%65/%2%65/%",
    "http://a.com//",
    "http://a.com/.//x//",
    "http://a.com/..;/x/%2e%2E/.%2e/y",
    "http://a\u3002com\uff0e/",
    "http://xn--a/",
    "http://xn--bcher-kva.example/",
    "http://[fe80::1%25eth0]/",
    "http://[::ffff:127.0.0.1]:443/",
    "http://example.com./a/",
    "http://0x7f.1../",
    "http://a..b/",
    "http://www.www.com/",
    "http://www./",
    "http://h:0/",
    "http://h:65535/",
    "http://h:65536/",
    "http://h:443/",
    "https://h:80/",
    "http://a.com\\@b.com/",
    "http:////x",
    "ht\ttp://a\n.com/\r\n",
    "http://a.com/\x00?\x00#\x00",
    "http://a\x00.com/",
    "http://a.com/\u202e\u200f?\u202e",
    "http://a.com/\ud800",
    "http://user:p%40ss@a.com:80/?",
    "http://a.com/?&&a&a=&=&%61=2&utm_source=1&+=1",
    "http://2130706433/",
    "http://a.com/" + "é" * 1400,
    "",
    " ",
)

ESCAPES = ("%2e", "%2E", "%25", "%32", "%65", "%", "%4", "%zz", "%C3%a9")
PUNCTUATION = ("/", "//", ".", "..", "?", "&", "=", "#", "\\", "@", ":", ";", "+", "~", "^", "|", "[", "]")
PARAMETERS = ("a", "a=", "utm_x=1", "ref=2", "é")
INVISIBLE = ("\t", "\n", "\0", " ", "\u202e", "\ud800")
HOST_LIKE = ("www.", ":80", ":443", ":0", "xn--", "\uff0e", "\u3002", "::1", "0x7f", ".1")
fragments = st.sampled_from(ESCAPES + PUNCTUATION + PARAMETERS + INVISIBLE + HOST_LIKE)
hosts = st.sampled_from(
    [
        "a.com",
        "www.a.com",
        "WWW.www.A.com.",
        "127.1",
        "[::1]",
        "bücher.example",
        "x@a.com",
        "a.com:443",
        "a.com:80",
    ]
)
nasty_urls = st.builds(
    lambda scheme, host, tail: scheme + host + "".join(tail),
    st.sampled_from(["http://", "https://", "HTTP:\\\\", "http:", "//", "ftp://", ""]),
    hosts | st.text(max_size=8),
    st.lists(fragments | st.text(max_size=3), max_size=12),
)
rule_sets = st.sampled_from([*PRESETS.values(), crawl_rules({"a", "é"}), map_rules(allow_http=True)])


@given(nasty_urls | st.text(max_size=40) | st.sampled_from(NASTY), rule_sets)
def test_normalizing_again_changes_nothing(url: str, rules: Rules) -> None:
    once = normalize_with(url, rules)
    if once is not None:
        assert normalize_with(once, rules) == once
        assert once.isascii()
        assert once.startswith(("http://", "https://"))
        assert "#" not in once
        assert "?" not in once or once.partition("?")[2]


@given(nasty_urls | st.text(max_size=40) | st.sampled_from(NASTY), rule_sets)
def test_what_is_requested_has_the_identity_that_it_is_requested_for(url: str, rules: Rules) -> None:
    found = spelled(url, rules)
    assert (None if found is None else found.identity) == normalize_with(url, rules)
    if found is not None:
        assert found.address != found.identity
        assert spelled(found.target, rules) == found
        assert "#" not in found.target
        assert found.target.startswith("https:") or not rules.force_https


@pytest.mark.parametrize(
    ("url", "preset", "requested"),
    [
        ("HTTP://Example.com:80/a/../b/#x", Preset.CRAWL, "http://example.com/b/"),
        ("http://example.com//b//?page=1", Preset.CRAWL, "http://example.com//b//"),
        (
            "http://www.example.com/%7efoo/?b&a&utm_id=1",
            Preset.MAP,
            "https://www.example.com/%7efoo/?b&a&utm_id=1",
        ),
        ("http://www.example.com/", Preset.MAP_WITH_HTTP, "http://www.example.com/"),
        ("https://example.com/x/?ref=main&a=1", Preset.CAPTURE, "https://example.com/x/?ref=main&a=1"),
        ("https://example.com/x/?b=1&a=1", Preset.MIRROR, "https://example.com/x/?b=1&a=1"),
    ],
)
def test_a_url_is_requested_as_it_was_written(url: str, preset: Preset, requested: str) -> None:
    found = spelled(url, PRESETS[preset])
    assert found is not None
    assert found.target == requested


@pytest.mark.parametrize("preset", Preset)
@pytest.mark.parametrize("url", NASTY)
def test_nasty_urls_have_a_stable_identity_or_none(url: str, preset: Preset) -> None:
    once = normalize(url, preset)
    assert once is None or normalize(once, preset) == once


@given(nasty_urls, nasty_urls | st.text(max_size=10), rule_sets)
@example("x", "http://a.com/\ud800", PRESETS[Preset.MIRROR])
def test_resolving_never_raises_and_gives_an_identity(url: str, base: str, rules: Rules) -> None:
    once = normalize_with(url, rules, base)
    assert once is None or normalize_with(once, rules) == once


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("HTTP://EXAMPLE.com:80/A/./b/../c#frag", "http://example.com/A/c"),
        ("https://example.com:443", "https://example.com/"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("https://u:p@example.com/", "https://example.com/"),
        ("https://example.com/%2e%2e/a/%2E/b", "https://example.com/a/b"),
        ("https://example.com/a//b/?", "https://example.com/a//b/"),
        ("https://example.com/?b=2&a=1&utm_source=x", "https://example.com/?b=2&a=1&utm_source=x"),
        ("https://example.com/a%7Eb", "https://example.com/a%7Eb"),
        ("https://example.com./", "https://example.com/"),
        ("https://bücher.example/ü?ü", "https://xn--bcher-kva.example/%C3%BC?%C3%BC"),
        ("http://a.com\\@b.com/", "http://a.com/@b.com/"),
        ("http:////x", "http://x/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[0:0::1]:80/", "http://[::1]/"),
        ("http://h:0/", "http://h:0/"),
    ],
)
def test_mirror_keeps_all_but_what_never_matters(url: str, identity: str) -> None:
    assert normalize(url, Preset.MIRROR) == identity


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("http://example.com/page", "https://example.com/page"),
        ("https://www.example.com/", "https://example.com/"),
        ("https://example.com/page/", "https://example.com/page"),
        ("https://example.com/page#section", "https://example.com/page"),
        ("https://example.com/page?utm_source=twitter", "https://example.com/page"),
        ("https://example.com/page?b=2&a=1", "https://example.com/page?a=1&b=2"),
        ("https://example.com/a/../b/./c", "https://example.com/b/c"),
        ("https://EXAMPLE.COM/Page", "https://example.com/Page"),
        ("https://example.com", "https://example.com/"),
        ("https://example.com/%7Euser/%41%2fb%C3%a9", "https://example.com/~user/A%2Fb%C3%A9"),
        ("https://example.com/100%/%41", "https://example.com/100%25/A"),
        ("https://example.com/%7ea%2fb/100%", "https://example.com/~a%2Fb/100%25"),
        ("https://example.com/?q=%7efoo", "https://example.com/?q=~foo"),
        ("https://example.com/?q=a%2fb%26c", "https://example.com/?q=a%2Fb%26c"),
        ("https://example.com/?q=50%&r=%41", "https://example.com/?q=50%25&r=A"),
        ("https://example.com/?fbclid=1&gclid=2&mc_eid=3&ref=4&source=5&utm_=6", "https://example.com/"),
        ("https://example.com/?refs=1&Source=2", "https://example.com/?Source=2&refs=1"),
        ("https://example.com/?utm%5Fsource=1&x", "https://example.com/?x"),
        ("http://example.com:8080/", "https://example.com:8080/"),
        ("http://example.com:443/", "https://example.com/"),
        ("https://www.com/", "https://www.com/"),
        ("https://www.www.example.com/", "https://example.com/"),
        ("https://wwwexample.com/", "https://wwwexample.com/"),
    ],
)
def test_map_takes_equivalent_spellings_for_one_page(url: str, identity: str) -> None:
    assert normalize(url, Preset.MAP) == identity


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("http://www.example.com/a//b///?q=1#f", "http://www.example.com/a/b"),
        ("http://example.com//", "http://example.com/"),
        ("http://example.com/a%7E/", "http://example.com/a%7E"),
    ],
)
def test_crawl_drops_queries_and_superfluous_slashes(url: str, identity: str) -> None:
    assert normalize(url, Preset.CRAWL) == identity


def test_crawl_keeps_the_parameters_that_are_allowed_by_name() -> None:
    rules = crawl_rules(["page", "f[x]"])
    url = "http://e.com/a?sid=9&page=2&f%5Bx%5D=1&page=1&pages=3"
    assert normalize_with(url, rules) == "http://e.com/a?page=2&f%5Bx%5D=1&page=1"


def test_map_can_keep_http() -> None:
    assert normalize_with("http://www.e.com/a/", map_rules(allow_http=True)) == "http://e.com/a"


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("http://www.e.com/a/?z=1&utm_medium=x&b=2#f", "http://www.e.com/a?b=2&z=1"),
        ("http://e.com/a//b//", "http://e.com/a//b"),
        ("http://e.com/?a=&a&a=%2f&a=/", "http://e.com/?a=&a&a=%2f&a=/"),
        ("http://e.com/?b&a=2&a=1&b=", "http://e.com/?a=2&a=1&b&b="),
    ],
)
def test_capture_sorts_by_name_and_keeps_each_spelling(url: str, identity: str) -> None:
    assert normalize(url, Preset.CAPTURE) == identity


names = st.sampled_from(["a", "b", "%61", "a+b", "é", ""])
params = st.lists(st.tuples(names, st.sampled_from(["", "=", "=1", "=%2F", "=a=b"])), max_size=8)


@given(params)
def test_sorting_keeps_every_parameter_and_the_order_of_repeats(pairs: list[tuple[str, str]]) -> None:
    pieces = [name + value for name, value in pairs if name + value]
    identity = normalize("http://e.com/?" + "&".join(pieces), Preset.CAPTURE)
    assert identity is not None
    result = [piece for piece in identity.partition("?")[2].split("&") if piece]
    expected = [piece.replace("é", "%C3%A9") for piece in pieces]
    assert sorted(result) == sorted(expected)
    for name in ("a", "b", ""):
        assert [p for p in result if p.partition("=")[0] == name] == [
            p for p in expected if p.partition("=")[0] == name
        ]


@pytest.mark.parametrize("preset", Preset)
@pytest.mark.parametrize(
    "url",
    [
        "example.com/a",
        "/a",
        "ftp://example.com/",
        "mailto:a@b.c",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "http://",
        "http:// a.com/",
        "http://a b.com/",
        "http://h:65536/",
        "http://[fe80::1%25eth0]/",
        "http://[::1",
        "http://xn--b\u00fccher/",
        "http://./",
        "http://a..b/",
        "http://a.com../",
        "http://a\x00.com/",
        "http://a.com/\ud800",
        "http://1.2.3.256/",
        "http://" + "a" * 64 + ".com/",
        "http://" + "a." * 127 + "com/",
        "http://a.com/" + "a" * 8192,
        "http://a.com/" + "é" * 2000,
    ],
)
def test_what_cannot_be_requested_has_no_identity(url: str, preset: Preset) -> None:
    assert normalize(url, preset) is None


def test_a_url_of_the_maximum_length_is_accepted() -> None:
    url = "http://a.com/".ljust(8192, "x")
    assert normalize(url, Preset.MIRROR) == url


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("b", "http://e.com/x/b"),
        ("../b", "http://e.com/b"),
        ("../../../b", "http://e.com/b"),
        ("//o.com/b", "http://o.com/b"),
        ("?q", "http://e.com/x/y?q"),
        ("", "http://e.com/x/y?z"),
        ("http:b", "http://e.com/x/b"),
        ("https:b", "https://b/"),
        ("\\b", "http://e.com/b"),
    ],
)
def test_references_resolve_as_in_a_browser(href: str, url: str) -> None:
    assert normalize(href, Preset.MIRROR, "http://e.com/x/y?z#f") == url


@pytest.mark.parametrize(
    ("host", "fits"),
    [
        (f"{'a' * 63}.org", True),
        (f"{'a' * 64}.org", False),
        (".".join(["a" * 62] * 4)[:251] + ".b", True),
        (".".join(["a" * 62] * 4)[:251] + ".bc", False),
    ],
)
def test_a_host_name_is_as_long_as_dns_can_hold(host: str, fits: bool) -> None:
    assert (normalize(f"http://{host}/", Preset.MIRROR) is not None) is fits


@pytest.mark.parametrize(
    "rules",
    [Rules(drop_params=frozenset({"sid"})), Rules(drop_param_prefixes=("si",))],
    ids=["name", "prefix"],
)
def test_parameters_are_dropped_by_name_or_by_prefix_alone(rules: Rules) -> None:
    assert normalize_with("https://a.test/?sid=1&page=2", rules) == "https://a.test/?page=2"
