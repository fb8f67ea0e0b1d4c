"""Through a proxy: the same checks, our own resolution, and no secret in the wrong hands."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import pytest
import trustme

from sumi.engine.io import SystemClock
from sumi.fetch.http import HttpFetcher
from sumi.fetch.resolver import Resolution, Unresolved
from sumi.model import Request, Response
from sumi.outcomes import Outcome, Trouble
from sumi.policy import Credential, FetchLimits, NetworkPolicy, Proxy, Secret
from tests.fetch.exchanges import OK, Loop, Result, answer, on_both_loops, run
from tests.fetch.proxy_server import ProxyServer, proxying
from tests.fetch.raw_server import RawServer, serving

pytestmark = on_both_loops

SITE = "site.example"
# The server closes each connection, and says so: a client that is not told may ask in one that is ending.
CLOSING = answer("HTTP/1.1 200 OK\nConnection: close\nContent-Length: 2", b"ok")


class Names:
    """``site.example`` is a server of the test; every other name leads to where clouds keep their secrets."""

    async def addresses(self, host: str) -> Resolution:
        if host == "nowhere.example":
            return Unresolved("the host name does not exist")
        return ("127.0.0.1",) if host in {SITE, "proxy.example"} else ("169.254.169.254",)


def proxy_at(server: ProxyServer, scheme: str = "http", password: str | None = None) -> Proxy:
    user, _, word = (password or "").partition(":")
    secrets = (Secret(user), Secret(word)) if password else (None, None)
    return Proxy(scheme, "127.0.0.1", server.port, *secrets)


async def ask(urls: list[str], **access: Any) -> list[Result]:
    fetcher = HttpFetcher(
        FetchLimits(connect=3, total=5),
        NetworkPolicy(allow_private=True, **access),
        SystemClock(),
        resolver=Names(),
    )
    try:
        return [await fetcher.fetch(Request(url)) for url in urls]
    finally:
        await fetcher.aclose()


def through_one(urls: Any, **options: Any) -> tuple[list[Result], RawServer, ProxyServer]:
    loop: Loop = options.pop("loop")
    scheme, password = options.pop("scheme", "http"), options.pop("password", None)
    proxy_options = options.pop("proxy", {})

    async def main() -> tuple[list[Result], RawServer, ProxyServer]:
        async with (
            serving(CLOSING, tls=options.pop("tls", None)) as server,
            proxying(**proxy_options) as proxy,
        ):
            asked = [url.format(port=server.port) for url in urls]
            results = await ask(asked, proxies=(proxy_at(proxy, scheme, password),), **options)
            return results, server, proxy

    result: tuple[list[Result], RawServer, ProxyServer] = run(loop, main())
    return result


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_the_proxy_is_given_an_address_that_we_found_and_checked(scheme: str, loop: Loop) -> None:
    (result,), server, proxy = through_one(["http://site.example:{port}/a"], scheme=scheme, loop=loop)
    assert isinstance(result, Response), result
    assert proxy.targets == [f"127.0.0.1:{server.port}"]
    assert result.header("x-proxy") is None
    assert server.heads[0].startswith(b"GET /a HTTP/1.1\r\nHost: site.example:")
    assert b"proxy" not in server.heads[0].lower()


@pytest.mark.parametrize(
    "url",
    [
        "http://inside.example/",
        "http://169.254.169.254/",
        "http://site.example:22/",
        "http://nowhere.example/",
    ],
)
def test_what_is_forbidden_is_forbidden_through_a_proxy_too(url: str, loop: Loop) -> None:
    (refused, control), _, proxy = through_one([url, "http://site.example:{port}/"], loop=loop)
    assert isinstance(refused, Trouble)
    assert refused.verdict.outcome in {Outcome.ADDRESS_REFUSED, Outcome.DNS_FAILED}
    assert isinstance(control, Response)
    assert len(proxy.targets) == 1


def test_a_proxy_that_is_trusted_with_names_gets_the_name(loop: Loop) -> None:
    (result, refused), server, proxy = through_one(
        ["http://inside.example:8080/", "http://10.0.0.1:22/"], trust_proxy_dns=True, loop=loop
    )
    assert isinstance(result, Response)
    assert (result.body, proxy.targets) == (b"by proxy", ["http://inside.example:8080/"])
    assert isinstance(refused, Trouble)  # what stands in the URL itself is still checked
    assert server.heads == []


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_escapes_go_as_they_are_written_through_a_proxy_too(scheme: str, loop: Loop) -> None:
    site = "http://site.example:{port}"
    urls = [f"{site}/%7ea?b=%c3%A9", f"{site}/plain", f"{site}/%7E"]
    results, server, _ = through_one(urls, scheme=scheme, loop=loop)
    assert all(isinstance(result, Response) for result in results), results
    targets = [head.split(b" ")[1] for head in server.heads]
    assert targets == [b"/%7ea?b=%c3%A9", b"/plain", b"/%7E"]


def test_a_proxy_that_is_trusted_with_names_gets_escapes_as_they_are_written(loop: Loop) -> None:
    _, _, proxy = through_one(["http://inside.example:8080/%7e?%c3"], trust_proxy_dns=True, loop=loop)
    assert proxy.targets == ["http://inside.example:8080/%7e?%c3"]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA) -> Iterator[str]:
    with authority.cert_pem.tempfile() as name:
        yield name


def test_tls_is_verified_for_the_name_within_the_tunnel(
    loop: Loop, authority: trustme.CA, ca_file: str
) -> None:
    for name, expected in ((SITE, Response), ("other.example", Trouble)):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name).configure_cert(context)
        (result,), server, proxy = through_one(
            ["https://site.example:{port}/"], tls=context, ca_file=ca_file, loop=loop
        )
        assert isinstance(result, expected), result
        assert proxy.heads[0].startswith(b"CONNECT 127.0.0.1:%d " % server.port)


def test_the_proxy_gets_its_password_and_the_site_gets_its_own(loop: Loop) -> None:
    async def main() -> tuple[list[Result], RawServer, ProxyServer]:
        async with serving(CLOSING) as server, proxying("me:p@ss") as proxy:
            token = Credential(("http", SITE, server.port), "X-Token", Secret("for-the-site"))
            results = await ask(
                [server.url(host=SITE)], proxies=(proxy_at(proxy, password="me:p@ss"),), credentials=(token,)
            )
            return results, server, proxy

    (result,), server, proxy = run(loop, main())
    assert isinstance(result, Response), result
    assert b"for-the-site" not in proxy.heads[0]
    assert b"X-Token: for-the-site\r\n" in server.heads[0]
    assert b"proxy-authorization" not in server.heads[0].lower()


@pytest.mark.parametrize("password", [None, "me:wrong"])
@pytest.mark.parametrize("trusted", [True, False])
def test_a_proxy_that_wants_another_password_is_named_and_its_password_is_not(
    password: str | None, trusted: bool, loop: Loop
) -> None:
    (result,), server, _ = through_one(
        ["http://site.example:{port}/"],
        proxy={"password": "me:right"},
        password=password,
        trust_proxy_dns=trusted,
        loop=loop,
    )
    assert isinstance(result, Trouble)
    assert (result.verdict.outcome, result.verdict.rule) == (
        Outcome.CONNECT_FAILED,
        "the proxy does not accept our credentials (407)",
    )
    assert server.heads == []


def test_a_proxy_that_cannot_reach_the_site_is_not_to_blame(loop: Loop) -> None:
    bad_gateway = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
    (result,), _, proxy = through_one(
        ["http://site.example:{port}/"], proxy={"refuses": bad_gateway}, loop=loop
    )
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.CONNECT_FAILED
    assert "502" in result.verdict.rule
    assert len(proxy.heads) == 1


def dead_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_dead_proxy_costs_a_page_nothing_while_another_one_lives(loop: Loop) -> None:
    async def main() -> tuple[list[Result], ProxyServer]:
        async with serving(CLOSING) as server, proxying() as proxy:
            dead = Proxy("http", "127.0.0.1", dead_port())
            lost = Proxy("http", "nowhere.example", 3128)
            urls = [server.url(f"/{number}", SITE) for number in range(5)]
            return await ask(urls, proxies=(dead, lost, proxy_at(proxy))), proxy

    results, proxy = run(loop, main())
    assert all(isinstance(result, Response) for result in results), results
    assert len(proxy.targets) == 5


def test_without_a_working_proxy_no_host_is_contacted_directly(loop: Loop) -> None:
    async def main() -> tuple[list[Result], RawServer]:
        async with serving(CLOSING) as server:
            proxies = tuple(Proxy("http", "127.0.0.1", dead_port()) for _ in range(2))
            return await ask([server.url(host=SITE)] * 5, proxies=proxies), server

    results, server = run(loop, main())
    assert {result.verdict.outcome for result in results} == {Outcome.CONNECT_FAILED}
    assert server.heads == []


def test_the_environment_chooses_no_proxy_and_exempts_no_host(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("NO_PROXY", "site.example,127.0.0.1")
    (result,), _, proxy = through_one(["http://site.example:{port}/"], loop=loop)
    assert isinstance(result, Response)
    assert len(proxy.targets) == 1


def test_many_at_once_through_one_proxy(loop: Loop) -> None:
    async def main() -> list[Result]:
        async with serving(OK, keep_alive=True) as server, proxying() as proxy:
            access = NetworkPolicy(allow_private=True, proxies=(proxy_at(proxy),))
            fetcher = HttpFetcher(FetchLimits(), access, SystemClock(), resolver=Names())
            try:
                asked = [fetcher.fetch(Request(server.url(f"/{number}", SITE))) for number in range(20)]
                return await asyncio.gather(*asked)
            finally:
                await fetcher.aclose()

    assert all(isinstance(result, Response) for result in run(loop, main()))
