"""One request on the wire is one request, whatever a link, a Location or a setting contains."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.engine.io import SystemClock
from sumi.fetch.headers import request_lines
from sumi.fetch.http import HttpFetcher
from sumi.fetch.target import parse_target
from sumi.model import Request, Response
from sumi.outcomes import Outcome, Trouble
from sumi.policy import FetchLimits, NetworkPolicy, Preset
from sumi.urls import normalize
from tests.fetch.exchanges import LOOPBACK, OK, Loop, Result, on_both_loops, run
from tests.fetch.raw_server import serving

NASTY = [
    "/a\r\nX-Evil: 1",
    "/a\nX-Evil: 1",
    "/a\rX-Evil: 1",
    "/a HTTP/1.1\r\nHost: evil.example\r\n\r\nGET /b",
    "/a\0b",
    "/a b",
    "/a\tb",
    "/ä/☃",
    "/%0d%0aX-Evil:%201",
    "/%00",
    "/a\\..\\b",
    "/a\u2028b",
    "/a\x0b\x0cb\x7f",
    "?q=\r\nX-Evil: 1",
    "?q=ä ö",
    "#\r\nX-Evil: 1",
    "/" + "%ff" * 100,
    "/a\ud800",
]
REQUEST_LINE = re.compile(rb"GET [\x21-\x7e]+ HTTP/1\.1\r\n")


@pytest.mark.parametrize("rest", NASTY)
@on_both_loops
def test_a_nasty_link_is_one_request_or_none(rest: str, loop: Loop) -> None:
    async def main() -> tuple[list[Result], list[bytes]]:
        async with serving(OK) as server:
            base = server.url("/base/")
            fetcher = HttpFetcher(FetchLimits(), LOOPBACK, SystemClock())
            spellings = {f"{base}{rest}", normalize(rest, Preset.MIRROR, base)}
            try:
                results = [await fetcher.fetch(Request(url)) for url in spellings if url is not None]
            finally:
                await fetcher.aclose()
            return results, server.heads

    results, heads = run(loop, main())
    assert len(heads) == sum(isinstance(result, Response) for result in results)
    for head in heads:
        assert REQUEST_LINE.match(head)
        names = [line.partition(b":")[0] for line in head.split(b"\r\n")[1:-2]]
        assert names == [b"Host", b"User-Agent", b"Accept", b"Accept-Encoding"]


HOSTS = [
    "127.0.0.1\r\nX-Evil: 1",
    "127.0.0.1\n",
    "127.0.0.1 ",
    "a b.example",
    "a\0.example",
    "a%00.example",
    "a%0d%0a.example",
    "a,b.example",
    "a;b.example",
    "-",
    "a..b",
    "." * 10,
    "a" * 64 + ".example",
    "a." * 200 + "example",
]


@pytest.mark.parametrize("host", HOSTS)
@on_both_loops
def test_a_nasty_host_is_not_dialled(host: str, loop: Loop) -> None:
    class Nobody:
        async def addresses(self, host: str) -> tuple[str, ...]:
            assert re.fullmatch(r"[a-z0-9._-]+", host)
            return ("169.254.169.254",)

    async def main() -> Result:
        fetcher = HttpFetcher(
            FetchLimits(connect=1, total=1), NetworkPolicy(), SystemClock(), resolver=Nobody()
        )
        try:
            return await fetcher.fetch(Request(f"http://{host}/"))
        finally:
            await fetcher.aclose()

    result = run(loop, main())
    assert isinstance(result, Trouble)
    assert result.verdict.outcome in {Outcome.BAD_URL, Outcome.ADDRESS_REFUSED}


# What is checked is what is dialled: one parser reads the URL, and curl is handed what that parser wrote.
DISAGREEMENTS = [
    ("http://127.0.0.1:6666\\@1.1.1.1/", "127.0.0.1", 6666),
    ("http://1.1.1.1#@127.0.0.1/", "1.1.1.1", 80),
    ("http://1.1.1.1?@127.0.0.1/", "1.1.1.1", 80),
    ("http://1.1.1.1/@127.0.0.1/", "1.1.1.1", 80),
    ("http://1.1.1.1@127.0.0.1/", "127.0.0.1", 80),
    ("http://1.1.1.1:80@127.0.0.1:8080/", "127.0.0.1", 8080),
    ("http://a@b@127.0.0.1/", "127.0.0.1", 80),
    ("http://1.1.1.1 &@127.0.0.1/", "127.0.0.1", 80),
    ("http://a%2F@127.0.0.1/", "127.0.0.1", 80),
    ("http://127.0.0.1\t.evil.example/", "127.0.0.1.evil.example", 80),
    ("http:\\\\127.0.0.1\\x", "127.0.0.1", 80),
    ("http:///127.0.0.1/", "127.0.0.1", 80),
    ("http:127.0.0.1", "127.0.0.1", 80),
    ("HTTP://0x7f.1/", "127.0.0.1", 80),
    ("http://[::ffff:127.0.0.1]:81/", "[::ffff:7f00:1]", 81),
]


@pytest.mark.parametrize(("url", "host", "port"), DISAGREEMENTS)
def test_parsers_cannot_be_played_against_each_other(url: str, host: str, port: int) -> None:
    target = parse_target(url)
    assert target is not None
    assert (target.host, target.port) == (host, port)
    authority = target.url.split("/")[2]
    assert "@" not in authority
    assert authority.removesuffix(f":{port}") == host


@given(st.text(max_size=200))
def test_what_curl_is_given_is_plain_ascii_without_blanks(url: str) -> None:
    for text in (url, f"http://example.com/{url}", f"https://{url}.example/"):
        target = parse_target(text)
        assert target is None or re.fullmatch(r"https?://[\x21-\x7e]+", target.url)


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=50)), max_size=4))
def test_headers_are_one_line_each_or_not_sent(fields: list[tuple[str, str]]) -> None:
    lines = request_lines("sumi", tuple(fields))
    assert lines is None or all(
        b"\r" not in line and b"\n" not in line and b"\0" not in line for line in lines
    )


SCHEMES = """
file ftp ftps gopher gophers dict ldap smb telnet tftp scp sftp imap smtp rtsp ws wss data javascript about
view-source jar blob
"""


@pytest.mark.parametrize("scheme", SCHEMES.split())
@on_both_loops
def test_no_other_scheme_is_ever_opened(scheme: str, loop: Loop) -> None:
    async def main() -> tuple[list[Result], int]:
        async with serving(OK) as server:
            fetcher = HttpFetcher(FetchLimits(), LOOPBACK, SystemClock())
            place = f"127.0.0.1:{server.port}/"
            urls = [
                f"{scheme}://{place}",
                f"{scheme}:///etc/passwd",
                f"{scheme}:http://{place}",
                server.url(),
            ]
            try:
                return [await fetcher.fetch(Request(url)) for url in urls], server.connections
            finally:
                await fetcher.aclose()

    (*others, control), connections = run(loop, main())
    assert {result.verdict.outcome for result in others} == {Outcome.BAD_URL}
    assert isinstance(control, Response)
    assert connections == 1
