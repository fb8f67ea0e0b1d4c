"""robots.txt as the standard, search engines, careless owners and attackers write it."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from sumi.robots import RobotsRules, parse_robots
from tests.corpora import hostile_text, hostile_urls


def rules(body: str | bytes, agent: str = "ExampleBot") -> RobotsRules:
    return parse_robots(body if isinstance(body, bytes) else body.encode()).rules_for(agent)


# The examples of RFC 9309, section 5.
SIMPLE = """
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""
LONGEST = """
User-Agent: foobot
Allow: /example/page/
Disallow: /example/page/disallowed.gif
"""
CASES = [
    (SIMPLE, "otherbot", "/", True),
    (SIMPLE, "otherbot", "/a.gif", False),
    (SIMPLE, "otherbot", "/a.gif?x", True),
    (SIMPLE, "otherbot", "/example/x", False),
    (SIMPLE, "otherbot", "/publications/x", True),
    (SIMPLE, "otherbot", "/publications/a.gif", True),
    (SIMPLE, "foobot", "/", False),
    (SIMPLE, "foobot", "/example/page.html", True),
    (SIMPLE, "foobot", "/example/allowed.gif", True),
    (SIMPLE, "foobot", "/example/other.gif", False),
    (SIMPLE, "barbot", "/example/page.html", False),
    (SIMPLE, "bazbot", "/example/page.html", False),
    (SIMPLE, "bazbot", "/a.gif", True),
    (SIMPLE, "quxbot", "/example/", True),
    (LONGEST, "foobot", "/example/page/disallowed.gif", False),
    (LONGEST, "foobot", "/example/page/x.gif", True),
    # An own group replaces everyone's, wherever it stands and however it is spelled.
    ("User-agent: a\nDisallow: /x\nUser-agent: *\nDisallow: /", "A", "/y", True),
    ("User-agent: *\nDisallow: /\nUser-agent: A/2.0\nDisallow: /x", "a", "/y", True),
    ("User-agent: a b\nDisallow: /\nUser-agent: *\nAllow: /", "a", "/y", False),
    ("User-agent: ab\nDisallow: /\nUser-agent: *\nAllow: /", "a", "/y", True),
    ("User-agent: a\nUser-agent: *\nDisallow: /", "a", "/y", False),
    # Groups of one agent are one group, with others in between.
    (
        "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /\nUser-agent: a\nDisallow: /y",
        "a",
        "/x",
        False,
    ),
    (
        "User-agent: a\nDisallow: /x\nUser-agent: b\nDisallow: /\nUser-agent: a\nDisallow: /y",
        "a",
        "/y",
        False,
    ),
    # Lines of other standards change nothing.
    (
        "User-agent: *\nHost: x\nClean-param: a /\nNoindex: /\nRequest-rate: 1/5\nDisallow: /x",
        "a",
        "/x",
        False,
    ),
    ("User-agent: *\nVisit-time: 0600-0845\n\n\nUser-agent: a\nDisallow: /x", "b", "/x", False),
    # Query strings count, fragments and parameters of the path are plain text.
    ("User-agent: *\nDisallow: /*?", "a", "/x?y", False),
    ("User-agent: *\nDisallow: /*?", "a", "/x", True),
    ("User-agent: *\nDisallow: /*;jsessionid=", "a", "/x;jsessionid=1", False),
    ("User-agent: *\nDisallow: /*.pdf$", "a", "/a.pdf#page=2", True),
    # Comments end lines and values; a hash in a path must be escaped.
    ("User-agent: * # all\nDisallow: /x#y", "a", "/x", False),
    ("#User-agent: *\n#Disallow: /", "a", "/", True),
    # Line ends of every kind, mixed; blank ones mean nothing.
    ("User-agent: *\r\n\rDisallow: /x\n\r\nDisallow: /y\r", "a", "/y", False),
    ("\n\n\nUser-agent: *\n\n\n\nDisallow: /x", "a", "/x", False),
    # An address in place of a path is none; an empty rule is none.
    ("User-agent: *\nDisallow: http://a.test/x", "a", "/x", True),
    ("User-agent: *\nDisallow:\nDisallow: /x", "a", "/x", False),
    ("User-agent: *\nAllow:\nDisallow: /", "a", "/x", False),
    # Unlike Google's own crawler, no directory index is guessed: the standard knows none.
    ("User-agent: *\nAllow: /x/index.html\nDisallow: /", "a", "/x/", False),
]


@pytest.mark.parametrize(("body", "agent", "path", "allowed"), CASES)
def test_the_rule_that_the_standard_means_decides(body: str, agent: str, path: str, allowed: bool) -> None:
    assert rules(body, agent).decide(path).allowed is allowed
    assert rules(b"\xef\xbb\xbf" + body.encode(), agent).decide(path).allowed is allowed
    assert rules(body.encode("utf-16"), agent).decide(path).allowed is allowed


@pytest.mark.parametrize("text", hostile_text.ALL)
def test_hostile_text_is_a_value_like_any_other(text: str) -> None:
    body = f"User-agent: *\nCrawl-delay: {text}\nSitemap: {text}\nDisallow: /{text}\nDisallow: /end\n"
    found = rules(body.encode("utf-8", "surrogatepass"))
    assert not found.decide("/end").allowed
    assert found.decide("/" + text).rule.isprintable()
    assert found.crawl_delay is None or 0 <= found.crawl_delay < float("inf")


def test_hostile_paths_are_judged_without_fail() -> None:
    found = rules("User-agent: *\nDisallow: /*x*y*z$\nAllow: /%\nDisallow: /\n")
    for url in hostile_urls.ALL:
        found.decide(url)


def steps(work: Callable[[], object]) -> int:
    """Calls of functions, Python's and C's."""
    taken = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal taken
        taken += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return taken


GROWING: dict[str, Callable[[int], str]] = {
    "rules": lambda n: "User-agent: *\n" + "".join(f"Disallow: /{k}\n" for k in range(n)),
    "rules with stars": lambda n: "User-agent: *\n" + "".join(f"Disallow: /*{k}*a*$\n" for k in range(n)),
    "agents": lambda n: "".join(f"User-agent: a{'b' * (k % 50)}\n" for k in range(n)) + "Disallow: /\n",
    "groups": lambda n: "User-agent: *\nDisallow: /x\n" * n,
    "stars in a rule": lambda n: "User-agent: *\nDisallow: /" + "*a" * n + "$\n",
    "blanks": lambda n: "User-agent: *\nDisallow:" + " " * n + "/\n",
    "escapes": lambda n: "User-agent: *\nDisallow: /" + "%41" * n + "\n",
    "sitemaps": lambda n: "".join(f"Sitemap: /{k}\n" for k in range(n)),
    "no lines at all": lambda n: "user-agent" * n,
    "colons": lambda n: ":" * n,
    "empty lines": lambda n: "\r\n" * n,
}


@pytest.mark.parametrize("name", GROWING)
def test_twice_the_file_takes_about_twice_the_steps(name: str) -> None:
    def work(size: int) -> int:
        body, path = GROWING[name](size).encode(), "/" + "a" * size
        return steps(lambda: parse_robots(body).rules_for("x").decide(path))

    work(10)  # what is compiled or cached once does not count
    assert work(800) <= 2.5 * work(400) + 100


def test_one_line_of_ten_megabytes_is_cut_and_ends() -> None:
    found = rules(b"User-agent: *\nDisallow: /" + b"a" * 10_000_000)
    assert found.decide("/b").allowed
