"""Any bytes can be parsed as robots.txt, and what a site's owner evidently meant is obeyed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.robots import RobotsFile, parse_robots, product_token


def allowed(body: str | bytes, path: str, agent: str = "foobot") -> bool:
    raw = body.encode() if isinstance(body, str) else body
    return parse_robots(raw).rules_for(agent).decide(path).allowed


SPELLINGS_THAT_DENY = [
    "user-agent: FooBot\ndisallow: /\n",
    "USER-AGENT: FooBot\nDISALLOW: /\n",
    "uSeR-aGeNt: FooBot\ndIsAlLoW: /\n",
    "user-agent FooBot\ndisallow /\n",
    "  user-agent :\tFooBot \n\t disallow\t:/ \n",
    "useragent: FooBot\ndissallow: /",
    "user agent: FooBot\ndisalow: /",
    "User-agent: FooBot\ndissalow: /",
    "User-agent: FooBot\ndiasllow: /",
    "User-agent: FooBot\ndisallaw: /",
    "User-agents: FooBot\nDisallowed: /",
    "User-agent: FooBot # that one\nDisallow: / # all of it",
    "User-agent: FooBot/2.1\nDisallow: /",
    "User-agent: FooBot and friends\nDisallow: /",
    "User-agent: * (everyone)\nDisallow: /",
    "User-agent: FooBot\rDisallow: /\r",
    "User-agent: FooBot\r\n\r\nDisallow: /\r\n",
    "User-agent: FooBot\n\n\n\nDisallow: /",
    "U\0ser-agent: Foo\0Bot\nDis\0allow: /\0",
    "some text\n: \n:::\nUser-agent: FooBot\nDisallow: /",
]


@pytest.mark.parametrize("body", SPELLINGS_THAT_DENY)
def test_a_denial_is_understood_however_it_is_spelled(body: str) -> None:
    assert not allowed(body, "/x/y")


BODIES_THAT_ALLOW = [
    "",
    "foo: FooBot\nbar: /\n",
    "disallow: /\n",  # applies to no crawler
    "disallow: /\nuser-agent: FooBot\n",
    "user-agent: FooBot\ndisallow:\n",
    "user-agent: FooBot\ndisallow\n",
    "user-agent: FooBot\ndisallow / but not really\n",
    "user-agent: FooBot\n# disallow: /\n",
    "user-agent: BarBot\ndisallow: /\n",
    "user-agent: FooBotImages\ndisallow: /\n",
    "user-agent: Foo\ndisallow: /\n",
    "user-agent:\ndisallow: /\n",
    "user-agent: ツ\ndisallow: /\n",
    "user-agent: *bot\ndisallow: /\n",
    "user-agent: FooBot\ndisallow: private\n",
    "user-agent: FooBot\ndisallow: https://example.com/\n",
    "<!DOCTYPE html>\n<html>\nUser-agent: *\nDisallow: /\n</html>",
    " \n<HTML lang=en>\nUser-agent: *\nDisallow: /\n",
]


@pytest.mark.parametrize("body", BODIES_THAT_ALLOW)
def test_what_denies_nothing_allows(body: str) -> None:
    assert allowed(body, "/x/y")


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"])
def test_a_byte_order_mark_even_a_torn_one_is_skipped(mark: bytes) -> None:
    assert not allowed(mark + b"User-agent: FooBot\nDisallow: /\n", "/x")


def test_a_byte_order_mark_of_another_encoding_is_none() -> None:
    assert allowed(b"\xef\x11\xbfUser-agent: FooBot\nDisallow: /\n", "/x")


INVISIBLE = [
    "\u2002",
    "\xa0",
    "\ufeff",
    "\u200b",
    "\u3000",
    "\u202f",
    "\x85",
    "\u2028",
    " \xa0\t",
    "\xa0 \u2009",
]


@pytest.mark.parametrize("blank", INVISIBLE)
def test_invisible_blanks_are_not_part_of_names_and_values(blank: str) -> None:
    lines = ["User-agent", "FooBot"], ["Disallow", "/x$"], ["Crawl-delay", "7"], ["Sitemap", "/map.xml"]
    body = "\n".join(f"{blank}{name}{blank}:{blank}{value}{blank}" for name, value in lines)
    file = parse_robots(body.encode())
    rules = file.rules_for("foobot")
    assert not rules.decide("/x").allowed
    assert rules.decide("/x").rule == "Disallow: /x$"
    assert rules.crawl_delay == 7.0
    assert file.sitemaps == ("/map.xml",)


def test_a_no_break_space_of_latin_1_is_one_too() -> None:
    assert not allowed(b"User-agent: FooBot\xa0\nDisallow: /x$\xa0\n", "/x")


def test_a_blank_within_a_path_is_part_of_it() -> None:
    assert not allowed("User-agent: *\nDisallow: /a\xa0b\n", "/a%C2%A0b")
    assert allowed("User-agent: *\nDisallow: /a\xa0b\n", "/ab")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_other_unicode_encodings_are_read(encoding: str) -> None:
    assert not allowed("User-agent: FooBot\r\nDisallow: /x\r\n".encode(encoding), "/x/y")


def test_utf16_text_beyond_ascii_is_compared_as_utf8() -> None:
    assert not allowed("\ufeffUser-agent: *\nDisallow: /ツ\n".encode("utf-16-be"), "/%E3%83%84")


GROUPS = """
allow: /foo/bar/

user-agent: FooBot
disallow: /
allow: /x/
user-agent: BarBot
disallow: /
allow: /y/


allow: /w/
user-agent: BazBot

user-agent: FooBot
allow: /z/
disallow: /
"""


@pytest.mark.parametrize(
    ("agent", "path", "expected"),
    [
        ("FooBot", "/x/b", True),
        ("FooBot", "/z/d", True),
        ("FooBot", "/y/c", False),
        ("BarBot", "/y/c", True),
        ("BarBot", "/w/a", True),
        ("BarBot", "/z/d", False),
        ("BazBot", "/z/d", True),
        ("FooBot", "/foo/bar/", False),
        ("BarBot", "/foo/bar/", False),
        ("BazBot", "/foo/bar/", False),
    ],
)
def test_groups_of_one_agent_merge_and_rules_outside_groups_do_not_count(
    agent: str, path: str, expected: bool
) -> None:
    assert allowed(GROUPS, path, agent) is expected


@pytest.mark.parametrize("between", ["Sitemap: https://foo.bar/s", "Unknown-Line: yes", "Crawl-delay: 3"])
def test_lines_of_no_standard_do_not_separate_names_from_their_rules(between: str) -> None:
    body = f"User-agent: BarBot\n{between}\nUser-agent: *\nDisallow: /\n"
    assert not allowed(body, "/x", "BarBot")
    assert not allowed(body, "/x", "FooBot")


# Which lines begin a group, and what a line between two names does. The sources: the grammar of RFC 9309, 2.2
# (``group = startgroupline *(startgroupline / emptyline) *(rule / emptyline)``); its 2.2.4 ("Parsing of other
# records MUST NOT interfere with the parsing of explicitly defined records"); Google's parser, where Allow
# and Disallow alone set ``seen_separator_``. The standard knows no Crawl-delay: it is for the names above it.
GROUPING = [
    # lines between "User-agent: a" and "User-agent: b / Disallow: /x"; denied for a; delay of a, of b
    ("", True, None, None),
    ("\n\n\n", True, None, None),  # emptyline is part of a group
    ("# a comment\n", True, None, None),  # so is a comment: emptyline = *WS [comment] NL
    ("Crawl-delay: 5\n", True, 5.0, None),  # 2.2.4
    ("Crawl-delay: 5\n\n", True, 5.0, None),
    ("\nCrawl-delay: 5\n\n\n", True, 5.0, None),
    (
        "Sitemap: /s.xml\n\n",
        True,
        None,
        None,
    ),  # 2.2.4, and Google's documentation on grouping has this very case
    ("Host: x\nnonsense\n\n", True, None, None),
    ("Content-Signal: search=yes\n\n", True, None, None),
    ("Disallow:\n", False, None, None),  # an empty rule is a rule: rule = ... [path-pattern]
    ("Allow: /\n\n", False, None, None),
    ("Disallow:\nCrawl-delay: 5\n\n", False, 5.0, None),
    ("Crawl-delay: 5\nDisallow:\n\n", False, 5.0, None),
]


@pytest.mark.parametrize(("between", "joined", "delay_of_a", "delay_of_b"), GROUPING)
def test_only_rules_end_the_names_of_a_group(
    between: str, joined: bool, delay_of_a: float | None, delay_of_b: float | None
) -> None:
    file = parse_robots(f"User-agent: a\n{between}User-agent: b\nDisallow: /x\n".encode())
    assert file.rules_for("a").decide("/x").allowed is not joined
    assert not file.rules_for("b").decide("/x").allowed
    assert file.rules_for("a").crawl_delay == delay_of_a
    assert file.rules_for("b").crawl_delay == delay_of_b


def test_everyones_group_is_for_those_who_have_no_own() -> None:
    body = "User-agent: *\nDisallow: /x/\nUser-agent: FooBot\nDisallow: /y/\n"
    assert allowed(body, "/x/page", "FooBot")
    assert not allowed(body, "/y/page", "FooBot")
    assert not allowed(body, "/x/page", "BarBot")
    assert not allowed(body, "/x/page", "")


def test_an_own_group_without_rules_allows_everything() -> None:
    assert allowed("User-agent: *\nDisallow: /\n\nUser-agent: FooBot\n", "/x")


def test_an_agent_that_cannot_exist_still_begins_a_group() -> None:
    assert allowed("User-agent: FooBot\nAllow: /\nUser-agent: 360\nDisallow: /xy\n", "/xy")


def test_a_line_is_read_up_to_its_limit_like_google_does() -> None:
    path = "/x/" + "a" * (8 * 2083 - len("disallow: /x/"))
    body = f"user-agent: FooBot\ndisallow: {path}/qux\n"
    assert allowed(body, "/fux")
    assert not allowed(body, path + "/fux")


def with_rule_ending_at(position: int, rule: bytes) -> bytes:
    start = b"User-agent: *\n#"
    return start + b"x" * (position - len(start) - len(rule) - 1) + b"\n" + rule


@pytest.mark.parametrize(
    ("end_of_rule", "denied"),
    [(511_999, True), (512_000, True), (512_001, False), (512_009, False), (600_000, False)],
)
def test_only_the_first_500_kib_count_and_a_rule_cut_there_is_ignored(end_of_rule: int, denied: bool) -> None:
    file = parse_robots(with_rule_ending_at(end_of_rule, b"Disallow: /private") + b"\n# and more\n" * 10)
    assert file.rules_for("foobot").decide("/private").allowed is not denied
    assert file.rules_for("foobot").decide("/pri").allowed


def test_a_file_within_the_limit_is_read_to_its_end() -> None:
    file = parse_robots(with_rule_ending_at(512_000, b"Disallow: /private"))
    assert not file.rules_for("foobot").decide("/private").allowed


def test_a_cut_utf16_file_keeps_its_whole_lines() -> None:
    body = "\ufeffUser-agent: *\nDisallow: /a\nDisallow: /bcd\n".encode("utf-16-le")
    rules = parse_robots(body, max_bytes=len(body) - 5).rules_for("foobot")
    assert not rules.decide("/a").allowed
    assert rules.decide("/b").allowed


@pytest.mark.parametrize(
    ("value", "delay"),
    [
        ("10", 10.0),
        ("0", 0.0),
        ("0.5", 0.5),
        ("1,5", 1.5),
        ("1e9", 1e9),
        ("7 seconds", 7.0),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("9" * 5000, None),
        ("", None),
        ("soon", None),
        ("1_0", None),
        ("٣", None),
    ],
)
def test_a_crawl_delay_is_a_finite_number_of_seconds_or_nothing(value: str, delay: float | None) -> None:
    body = f"User-agent: FooBot\nCrawl-delay: {value}\nDisallow: /x\n"
    assert parse_robots(body.encode()).rules_for("foobot").crawl_delay == delay


def test_a_crawl_delay_is_for_those_named_above_it_and_the_longest_counts() -> None:
    body = (
        b"User-agent: a\nUser-agent: b\nCrawl-delay: 5\nUser-agent: c\nCrawl-delay: 2\nDisallow: /x\n"
        b"User-agent: b\nCrawl-delay: 7\nCrawl-delay: 3\n"
    )
    file = parse_robots(body)
    assert [file.rules_for(agent).crawl_delay for agent in "abcd"] == [5.0, 7.0, 2.0, None]


def test_sitemaps_are_found_anywhere_as_written_and_once() -> None:
    body = (
        b"SITEMAP: https://foo.bar/a.xml\nUser-agent: x\nsite-map: /b.xml\nDisallow: /\n"
        b"Sitemaps: https://foo.bar/c.xml # third\nsitemap:\nSitemap: /b.xml\nSitemap https://foo.bar/d.xml"
    )
    assert parse_robots(body).sitemaps == (
        "https://foo.bar/a.xml",
        "/b.xml",
        "https://foo.bar/c.xml",
        "https://foo.bar/d.xml",
    )


def test_content_signals_are_kept_for_the_group_they_stand_in() -> None:
    body = b"User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\nUser-agent: x\nDisallow:\n"
    file = parse_robots(body)
    assert file.rules_for("foobot").content_signals == ("search=yes, ai-train=no",)
    assert file.rules_for("x").content_signals == ()


def test_the_rules_name_their_agent() -> None:
    file = parse_robots(b"User-agent: FooBot\nUser-agent: *\nDisallow: /\n")
    assert file.rules_for("FOOBOT").agent == "foobot"
    assert file.rules_for("other").agent == "*"
    assert parse_robots(b"").rules_for("other").agent == ""


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("sumi/0.1 (+https://example.com/bot; bot@example.com)", "sumi"),
        ("sumi", "sumi"),
        (" Foo_Bar-baz 2", "Foo_Bar-baz"),
        ("Mozilla/5.0 (compatible; sumi/0.1; +https://example.com)", "sumi"),
        ("Mozilla/5.0 (X11; Linux x86_64)", "Mozilla"),
        ("", ""),
        ("ツ", ""),
        ("9bot", ""),
    ],
)
def test_the_product_token_is_what_robots_txt_would_call_us(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token


lines = st.sampled_from(
    [
        "User-agent: *",
        "User-agent: foobot",
        "Disallow: /",
        "Allow: /a*b$",
        "Crawl-delay: 1",
        "Sitemap: s",
        "x",
        "",
    ]
)


def decisions(file: RobotsFile) -> list[bool]:
    return [
        file.rules_for(agent).decide(path).allowed for agent in ("foobot", "x") for path in ("/", "/ab", "/c")
    ]


@given(
    st.lists(lines), st.sampled_from(["\n", "\r", "\r\n"]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])
)
def test_line_ends_and_encodings_change_nothing(content: list[str], end: str, encoding: str) -> None:
    plain = parse_robots("\n".join(content).encode())
    other = parse_robots(end.join(content).encode(encoding))
    assert decisions(other) == decisions(plain)
    assert other.sitemaps == plain.sitemaps


@given(st.binary(max_size=300), st.integers(0, 40), st.text(max_size=20))
def test_any_bytes_any_limit_and_any_path_are_taken(body: bytes, max_bytes: int, path: str) -> None:
    for raw in (body, b"User-agent: *\nDisallow: /" + body, b"\xff\xfe" + body):
        for limit in (max_bytes, 500):
            rules = parse_robots(raw, limit).rules_for("foobot")
            assert isinstance(rules.decide(path).rule, str)
            rules.decide(path).rule.encode()
