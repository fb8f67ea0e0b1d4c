"""Cookies go back to where they came from, by the rules, within limits, and only during the run."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from sumi.engine.io import SystemClock
from sumi.fetch.cookies import PER_DOMAIN
from sumi.fetch.http import HttpFetcher
from sumi.fetch.resolver import Resolution
from sumi.model import Request, Response
from sumi.policy import Credential, FetchLimits, NetworkPolicy, Secret
from tests.fetch.exchanges import LOOPBACK, Loop, on_both_loops, run
from tests.fetch.raw_server import Writer, serving

pytestmark = on_both_loops


class Everywhere:
    """Every name is the test's server."""

    async def addresses(self, host: str) -> Resolution:
        return ("127.0.0.1",)


async def converse(
    set_cookies: Callable[[str], list[str]], visits: list[str], network: Any = None
) -> list[str]:
    """Asks for each ``host/path`` in turn; returns the Cookie header of each request, "" if it had none."""

    async def script(head: bytes, writer: Writer) -> None:
        lines = "".join(f"Set-Cookie: {value}\r\n" for value in set_cookies(head.split()[1].decode()))
        writer.write(f"HTTP/1.1 200 OK\r\n{lines}Content-Length: 0\r\n\r\n".encode())

    async with serving(script, keep_alive=True) as server:
        access = network or NetworkPolicy(allow_private=True, cookies=True)
        fetcher = HttpFetcher(FetchLimits(), access, SystemClock(), resolver=Everywhere())
        try:
            for visit in visits:
                host, _, path = visit.partition("/")
                result = await fetcher.fetch(Request(server.url(f"/{path}", host)))
                assert isinstance(result, Response), result
        finally:
            await fetcher.aclose()
        return [_cookie_of(head) for head in server.heads]


def _cookie_of(head: bytes) -> str:
    found = re.findall(rb"\r\ncookie: ([^\r]*)", head, re.IGNORECASE)
    assert len(found) <= 1
    return found[0].decode() if found else ""


# What is set on the first visit (to www.example.com/a/set), where we go next, and whether it is sent there.
RULES: list[tuple[str, str, bool]] = [
    ("a=1", "www.example.com/a/x", True),
    ("a=1", "www.example.com/b", False),  # the default path is that of the page
    ("a=1; Path=/", "www.example.com/b", True),
    ("a=1; Path=/a", "www.example.com/ab", False),
    ("a=1; Path=/", "WWW.Example.COM/b", True),
    ("a=1; Path=/", "example.com/b", False),
    ("a=1; Path=/", "sub.www.example.com/b", False),  # without a domain, for this host only
    ("a=1; Path=/; Domain=example.com", "other.example.com/b", True),
    ("a=1; Path=/; Domain=.example.com", "example.com/b", True),
    ("a=1; Path=/; Domain=EXAMPLE.com", "example.com/b", True),
    ("a=1; Path=/; Domain=example.com", "evilexample.com/b", False),
    ("a=1; Path=/; Domain=example.com", "example.com.evil.net/b", False),
    ("a=1; Path=/; Domain=com", "www.example.com/b", False),
    ("a=1; Path=/; Domain=com", "other.com/b", False),
    ("a=1; Path=/; Domain=evil.net", "evil.net/b", False),
    ("a=1; Path=/; Domain=sub.www.example.com", "sub.www.example.com/b", False),
    ("a=1; Path=/; Max-Age=0", "www.example.com/b", False),
    ("a=1; Path=/; Max-Age=-5", "www.example.com/b", False),
    ("a=1; Path=/; Max-Age=600", "www.example.com/b", True),
    ("a=1; Path=/; Expires=Wed, 09 Jun 1999 10:18:14 GMT", "www.example.com/b", False),
    ("a=1; Path=/; Expires=nonsense", "www.example.com/b", True),
    ("a=1; Path=/; Secure", "www.example.com/b", False),  # set and requested without TLS
    ("__Secure-a=1; Path=/", "www.example.com/b", False),
    ("__Secure-a=1; Path=/; Secure", "www.example.com/b", False),
    ("__Host-a=1; Path=/; Secure; Domain=example.com", "www.example.com/b", False),
    ("a=" + "v" * 5000 + "; Path=/", "www.example.com/b", False),
    ("a=b\x01c; Path=/", "www.example.com/b", False),
]


@pytest.mark.parametrize(("value", "visit", "sent"), RULES)
def test_where_a_cookie_goes(value: str, visit: str, sent: bool, loop: Loop) -> None:
    first, second = run(
        loop,
        converse(lambda path: [value] if path == "/a/set" else [], ["www.example.com/a/set", visit]),
    )
    assert first == ""
    assert bool(second) == sent


@pytest.mark.parametrize(
    ("host", "domain", "visit"),
    [
        ("a.co.uk", "co.uk", "b.co.uk/"),
        ("a.github.io", "github.io", "b.github.io/"),
        ("a.com.au", "com.au", "b.com.au/"),
        ("127.0.0.1", "0.0.1", "127.0.0.1/"),
        ("localhost", "localhost", "a.localhost/"),
    ],
)
def test_no_site_sets_cookies_for_a_public_suffix_or_part_of_an_address(
    host: str, domain: str, visit: str, loop: Loop
) -> None:
    sent = run(
        loop,
        converse(
            lambda path: [f"a=1; Path=/; Domain={domain}"] if path == "/set" else [], [f"{host}/set", visit]
        ),
    )
    assert sent == ["", ""]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "intranet"])
def test_a_host_without_a_domain_keeps_its_own_cookies(host: str, loop: Loop) -> None:
    sent = run(loop, converse(lambda _path: ["a=1; Path=/"], [f"{host}/1", f"{host}/2"]))
    assert sent == ["", "a=1"]


def test_a_host_is_kept_to_its_share(loop: Loop) -> None:
    def set_cookies(path: str) -> list[str]:
        page = int(path[1:])
        return [f"c{page}-{number}=1; Path=/" for number in range(40)]

    sent = run(loop, converse(set_cookies, [f"www.example.com/{page}" for page in range(30)]))
    held = [len(header.split("; ")) for header in sent[1:]]
    assert max(held) <= 2 * PER_DOMAIN  # counted now and then, not with every answer
    assert "c27-39=1" in sent[-2]  # the newest stay when they are counted
    assert "c28-39=1" in sent[-1]


def test_a_cookie_that_is_taken_back_is_gone(loop: Loop) -> None:
    def set_cookies(path: str) -> list[str]:
        return {"/1": ["a=1; Path=/"], "/2": ["a=; Path=/; Max-Age=0"]}.get(path, [])

    sent = run(loop, converse(set_cookies, [f"www.example.com/{page}" for page in (1, 2, 3)]))
    assert sent == ["", "a=1", ""]


def test_a_cookie_of_the_users_own_joins_those_of_the_jar(loop: Loop) -> None:
    async def main() -> list[str]:
        async def script(_head: bytes, writer: Writer) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nSet-Cookie: jar=1; Path=/\r\nContent-Length: 0\r\n\r\n")

        async with serving(script, keep_alive=True) as server:
            mine = Credential(("http", "127.0.0.1", server.port), "Cookie", Secret("mine=2"))
            access = NetworkPolicy(allow_private=True, cookies=True, credentials=(mine,))
            fetcher = HttpFetcher(FetchLimits(), access, SystemClock(), resolver=Everywhere())
            try:
                for host in ("127.0.0.1", "127.0.0.1", "other.example"):
                    assert isinstance(await fetcher.fetch(Request(server.url(host=host))), Response)
            finally:
                await fetcher.aclose()
            return [_cookie_of(head) for head in server.heads]

    assert run(loop, main()) == ["mine=2", "jar=1; mine=2", ""]


@pytest.mark.parametrize(
    ("attributes", "sent"),
    [
        ("Path=/", "a=new; b=mine"),  # the site has taken it over
        ("Path=/; HttpOnly", "a=new; b=mine"),
        ("Path=/page", "a=new; b=mine"),
        ("Path=/pa", "a=mine; b=mine"),  # its own goes elsewhere
        ("Path=/other", "a=mine; b=mine"),
        ("Path=/; Secure; Domain=other.example", "a=mine; b=mine"),
    ],
)
def test_a_cookie_that_a_site_sets_itself_is_not_sent_a_second_time_for_the_user(
    attributes: str, sent: str, loop: Loop
) -> None:
    async def main() -> list[str]:
        async def script(_head: bytes, writer: Writer) -> None:
            cookie = f"Set-Cookie: a=new; {attributes}\r\n"
            writer.write(f"HTTP/1.1 200 OK\r\n{cookie}Content-Length: 0\r\n\r\n".encode())

        async with serving(script, keep_alive=True) as server:
            mine = Credential(("http", "www.example.com", server.port), "Cookie", Secret("a=mine; b=mine"))
            access = NetworkPolicy(allow_private=True, cookies=True, credentials=(mine,))
            fetcher = HttpFetcher(FetchLimits(), access, SystemClock(), resolver=Everywhere())
            try:
                for query in ("", "?again"):
                    url = server.url(f"/page/x{query}", "www.example.com")
                    assert isinstance(await fetcher.fetch(Request(url)), Response)
            finally:
                await fetcher.aclose()
            return [_cookie_of(head) for head in server.heads]

    assert run(loop, main()) == ["a=mine; b=mine", sent]


def test_without_the_setting_no_cookie_is_kept(loop: Loop) -> None:
    sent = run(
        loop, converse(lambda _path: ["a=1; Path=/"], ["www.example.com/1", "www.example.com/2"], LOOPBACK)
    )
    assert sent == ["", ""]


def test_two_fetchers_share_nothing(loop: Loop) -> None:
    for _ in range(2):
        sent = run(loop, converse(lambda _path: ["a=1; Path=/"], ["www.example.com/1"]))
        assert sent == [""]
