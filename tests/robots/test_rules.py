"""The longest matching rule decides, in linear time, and the decision quotes its line."""

import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.robots import RobotsDecision, RobotsRules, parse_robots
from sumi.robots.rules import MAX_STARRED_RULES


def rules(*lines: str) -> RobotsRules:
    return parse_robots("\n".join(("User-agent: *", *lines)).encode()).rules_for("foobot")


def allowed(path: str, *lines: str) -> bool:
    return rules(*lines).decide(path).allowed


LONGEST_MATCH = [
    ("/x/page.html", ["Disallow: /x/page.html", "Allow: /x/"], False),
    ("/x/page.html", ["Allow: /x/page.html", "Disallow: /x/"], True),
    ("/x/", ["Allow: /x/page.html", "Disallow: /x/"], False),
    ("/x/page.html", ["Disallow:", "Allow:"], True),
    ("/x/page.html", ["Disallow: /", "Allow: /"], True),
    ("/x", ["Disallow: /x", "Allow: /x/"], False),
    ("/x/", ["Disallow: /x", "Allow: /x/"], True),
    ("/x/page.html", ["Disallow: /x/page.html", "Allow: /x/page.html"], True),
    ("/page.html", ["Allow: /page", "Disallow: /*.html"], False),
    ("/page", ["Allow: /page", "Disallow: /*.html"], True),
    ("/x/page.html", ["Allow: /x/page.", "Disallow: /*.html"], True),
    ("/x/y.html", ["Allow: /x/page.", "Disallow: /*.html"], False),
    ("/page", ["Allow: /p", "Disallow: /"], True),
    ("/folder/page", ["Allow: /folder", "Disallow: /folder"], True),
    ("/page.htm", ["Allow: /page", "Disallow: /*.htm"], False),
    ("/page.php5", ["Allow: /page", "Disallow: /*.ph"], True),
    ("/", ["Allow: /$", "Disallow: /"], True),
    ("/page.html", ["Allow: /$", "Disallow: /"], False),
    ("/x/y", ["Disallow: /X/"], True),
    ("/x/y", ["Disallow: /x/"], False),
    # No directory index is known to the standard: only the path itself counts.
    ("/dir/", ["Allow: /dir/index.html", "Disallow: /"], False),
    ("/dir/index.html", ["Allow: /dir/index.html", "Disallow: /"], True),
    # Stars and anchor count as octets, too.
    ("/ab", ["Allow: /a*", "Disallow: /a"], True),
    ("/ab", ["Allow: /ab", "Disallow: /a**"], False),
    ("/ab", ["Allow: /ab", "Disallow: /ab$"], False),
]


@pytest.mark.parametrize(("path", "lines", "expected"), LONGEST_MATCH)
def test_the_longest_rule_decides_and_allow_wins_a_tie(path: str, lines: list[str], expected: bool) -> None:
    assert allowed(path, *lines) is expected
    assert allowed(path, *reversed(lines)) is expected


FISH = {
    "/fish": (
        [
            "/fish",
            "/fish.html",
            "/fish/salmon.html",
            "/fishheads",
            "/fishheads/yummy.html",
            "/fish.html?id=anything",
        ],
        ["/bar", "/Fish.asp", "/catfish", "/?id=fish"],
    ),
    "/fish*": (
        ["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fish.html?id=anything"],
        ["/bar", "/Fish.bar", "/catfish", "/?id=fish"],
    ),
    "/fish/": (
        ["/fish/", "/fish/salmon", "/fish/?salmon", "/fish/salmon.html", "/fish/?id=anything"],
        ["/bar", "/fish", "/fish.html", "/Fish/Salmon.html"],
    ),
    "/*.php": (
        [
            "/filename.php",
            "/folder/filename.php?parameters",
            "//folder/any.php.file.html",
            "/filename.php/",
            "/index?f=filename.php/",
        ],
        ["/bar", "/php/", "/index?php", "/windows.PHP"],
    ),
    "/*.php$": (
        ["/filename.php", "/folder/filename.php", "/a.php.php"],
        [
            "/filename.php?parameters",
            "/filename.php/",
            "/filename.php5",
            "/php/",
            "/filename?php",
            "/aaaphpaaa",
        ],
    ),
    "/fish*.php": (
        ["/fish.php", "/fishheads/catfish.php?parameters"],
        ["/bar", "/Fish.PHP", "/fish", "/fish/php"],
    ),
    "/foo/bar$": (["/foo/bar"], ["/foo/bar/", "/foo/bar/qux", "/foo/bar?x"]),
    "/foo/*/qux": (["/foo/bar/qux", "/foo/bax/quxx"], ["/foo/qux", "/foo/bar/quz"]),
    "*/b": (["/b", "/a/b/c"], ["/ab"]),
    "*": (["/", "/a"], []),
    "/a*": (["/a"], ["/b"]),
    "/a*$": (["/a", "/ab/c"], ["/b"]),
    "/a**b": (["/ab", "/axb", "/axbx"], ["/a"]),
    "/ab*bc$": (["/abbc", "/abxbc"], ["/abc"]),
    "/a$b": (["/a$b", "/a%24bc"], ["/a", "/ab"]),
    "/a$$": (["/a$", "/a%24"], ["/a", "/a$$"]),
    "/a%2Ab": (["/a*b", "/a%2ab"], ["/axb"]),
}


@pytest.mark.parametrize("pattern", FISH)
def test_patterns_match_what_the_standard_and_the_search_engines_say(pattern: str) -> None:
    matching, other = FISH[pattern]
    only_these = rules("Disallow: /", f"Allow: {pattern}*****")  # longer than the slash, same meaning
    if pattern.endswith("$"):
        only_these = rules(f"Allow: {pattern}", "Disallow: /")
    assert [path for path in matching if not only_these.decide(path).allowed] == []
    assert [path for path in other if only_these.decide(path).allowed] == []


SAME_OCTETS = [
    ("/%7Ejoe/", "/~joe/index.html"),
    ("/~joe/", "/%7ejoe/"),
    ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
    ("/foo/bar/ツ", "/foo/bar/ツ"),
    ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"),
    ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
    ("/foo/bar/baz", "/foo/bar/%62%61%7A"),
    ("/a b", "/a%20b"),
    ("/a%3cd.html", "/a%3Cd.html"),
    ("/100%", "/100%25"),
    ("/foo/bar?qux=taz&baz=http://foo.bar?tar&par", "/foo/bar?qux=taz&baz=http://foo.bar?tar&par"),
]
OTHER_OCTETS = [
    ("/a%2Fb", "/a/b"),
    ("/a/b", "/a%2Fb"),
    ("/a?b", "/a%3Fb"),
    ("/a%2", "/a%2F"),
    ("/é", "/%E9"),
]


@pytest.mark.parametrize(("pattern", "path"), SAME_OCTETS)
def test_spellings_of_the_same_octets_are_the_same(pattern: str, path: str) -> None:
    assert not allowed(path, f"Disallow: {pattern}")


@pytest.mark.parametrize(("pattern", "path"), OTHER_OCTETS)
def test_reserved_characters_and_their_escapes_are_different(pattern: str, path: str) -> None:
    assert allowed(path, f"Disallow: {pattern}")


def test_a_rule_in_another_charset_is_compared_octet_by_octet() -> None:
    latin = parse_robots("User-agent: *\nDisallow: /é".encode("latin-1")).rules_for("foobot")
    assert not latin.decide("/%E9").allowed
    assert latin.decide("/é").allowed


def test_robots_txt_itself_is_always_allowed() -> None:
    assert rules("Disallow: /").decide("/robots.txt") == RobotsDecision(allowed=True)
    assert not allowed("/robots.txt.bak", "Disallow: /")
    assert not allowed("/sub/robots.txt", "Disallow: /")


@pytest.mark.parametrize(("written", "path"), [("", "/"), ("?q", "/?q"), ("x", "/x")])
def test_a_path_without_its_slash_is_given_one(written: str, path: str) -> None:
    assert rules(f"Disallow: {path}$").decide(written).rule == f"Disallow: {path}$"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["disalow :  /private # keep out"], "Disallow: /private"),
        (["Disallow: /", "allow: /priv"], "Allow: /priv"),
        (["Disallow: /*vate$"], "Disallow: /*vate$"),
        (["Disallow: /other"], ""),
        (["Disallow: /%70rivate"], "Disallow: /%70rivate"),
    ],
)
def test_the_decision_quotes_the_line_that_made_it(lines: list[str], expected: str) -> None:
    assert rules(*lines).decide("/private").rule == expected


def test_what_is_quoted_is_short_and_printable() -> None:
    quoted = (
        parse_robots(b"User-agent: *\nDisallow: *\x1b[2J" + b"*" * 9999)
        .rules_for("x")
        .decide("/\x1b[2J")
        .rule
    )
    assert quoted.isprintable()
    assert len(quoted) < 250


def test_fifty_stars_on_a_long_path_end_at_once() -> None:
    hostile = rules("Disallow: /" + "*a" * 50 + "$", "Disallow: /" + "a*" * 4000 + "b")
    assert hostile.decide("/" + "a" * 10_000 + "c").allowed


def test_starred_rules_beyond_the_limit_are_read_strictly() -> None:
    many = [f"Allow: /open/*/{number:0200}$" for number in range(MAX_STARRED_RULES)]
    read = rules(*many, "Disallow: /shut/*/x", "Allow: /shut/*/y", "Allow: /shut/z")
    assert read.decide(f"/open/a/{7:0200}").rule.startswith("Allow: /open/")
    assert read.decide("/shut/anything") == RobotsDecision(allowed=False, rule="Disallow: /shut/*/x")
    assert read.decide("/elsewhere").allowed


def oracle(lines: list[tuple[bool, str]], path: str) -> bool:
    """The standard's words as a regular expression: slow, and evidently right."""
    verdicts = [(0, True)]
    for allow, pattern in lines:
        anchor = "$" if pattern.endswith("$") else ""
        body = pattern[: len(pattern) - len(anchor)]
        expression = ".*".join(map(re.escape, body.split("*"))) + ("\\Z" if anchor else "")
        if re.match(expression, path):
            verdicts.append((len(pattern), allow))
    return max(verdicts)[1]


patterns = st.text("ab/*", max_size=8).map(lambda rest: "/" + rest)
anchored = st.builds(str.__add__, patterns, st.sampled_from(["", "$"]))
paths = st.text("ab/", max_size=12).map(lambda rest: "/" + rest)


@given(st.lists(st.tuples(st.booleans(), anchored), max_size=8), paths)
def test_decisions_agree_with_the_standard(lines: list[tuple[bool, str]], path: str) -> None:
    written = [f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in lines]
    assert allowed(path, *written) is oracle(lines, path)


# The file itself may always be fetched.
@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20).filter(lambda text: text != "robots.txt")
)
def test_quoting_a_path_does_not_hide_it(text: str) -> None:
    path = "/" + quote(text, safe="")
    assert not allowed(path, f"Disallow: {path}$")
    assert not allowed(path.lower() if text.isascii() and text.islower() else path, f"Disallow: {path}")
