"""Whom the fetcher talks to is checked where it is dialled, and TLS is verified."""

import asyncio
import ssl

import pytest
import trustme

from sumi.fetch.guard import AddressGuard
from sumi.model import Request, Response
from sumi.outcomes import Outcome, Trouble
from sumi.policy import NetworkPolicy
from tests.engine.exchanges import (
    LOOPBACK,
    OK,
    Loop,
    Result,
    ask_each,
    on_both_loops,
    run,
    silence,
    with_fetcher,
)
from tests.engine.raw_server import Writer, serving

pytestmark = on_both_loops


def test_nobody_listening_is_connect_failed(loop: Loop) -> None:
    async def main() -> Result:
        async with serving(silence) as server:
            asked = Request(server.url())
        result: Result = await with_fetcher(lambda fetcher: fetcher.fetch(asked))
        return result

    result = run(loop, main())
    assert isinstance(result, Trouble)
    assert (result.verdict.outcome, result.verdict.rule) == (Outcome.CONNECT_FAILED, "connection refused")


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("http://no-such-host.invalid/", Outcome.DNS_FAILED),
        ("ftp://example.com/", Outcome.BAD_URL),
        ("http://a;b.example/", Outcome.BAD_URL),
        ("nonsense", Outcome.BAD_URL),
        ("http://169.254.169.254/latest/", Outcome.ADDRESS_REFUSED),
        ("http://metadata.google.internal/", Outcome.ADDRESS_REFUSED),
        ("http://127.0.0.1:22/", Outcome.ADDRESS_REFUSED),
    ],
)
def test_urls_that_lead_nowhere(url: str, outcome: Outcome, loop: Loop) -> None:
    result = run(loop, with_fetcher(lambda fetcher: fetcher.fetch(Request(url))))
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is outcome, result.verdict


def test_a_name_that_leads_inwards_is_refused_when_it_is_dialled(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A guard that does not know of the pin: the name then leads inwards as if a name server had said so.
    monkeypatch.setattr("sumi.fetch.http.AddressGuard", lambda _network: AddressGuard(NetworkPolicy()))

    async def main() -> tuple[list[Result], int]:
        async with serving(OK) as server:
            network = NetworkPolicy(resolve=(("inside.example", server.port, "127.0.0.1"),))
            return await ask_each([server.url(host="inside.example")], network), server.connections

    (result,), connections = run(loop, main())
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.ADDRESS_REFUSED
    assert result.verdict.rule == "inside.example leads to 127.0.0.1, a loopback address"
    assert connections == 0


def test_a_pinned_name_reaches_its_address_and_no_other_name_does(loop: Loop) -> None:
    async def main() -> tuple[list[Result], list[bytes]]:
        async with serving(OK, keep_alive=True) as server:
            network = NetworkPolicy(resolve=(("pinned.example", server.port, "127.0.0.1"),))
            hosts = ["pinned.example", "localhost", "127.0.0.1", "pinned.example"]
            urls = [server.url(host=host) for host in hosts]
            return await ask_each(urls, network), server.heads

    results, heads = run(loop, main())
    assert [isinstance(result, Response) for result in results] == [True, False, False, True]
    assert all(b"\r\nHost: pinned.example:" in head for head in heads)


def test_an_opened_host_is_opened_under_its_own_name_only(loop: Loop) -> None:
    async def main() -> tuple[list[Result], int]:
        async with serving(OK, keep_alive=True) as server:
            network = NetworkPolicy(open_hosts=frozenset({("127.0.0.1", server.port)}))
            hosts = ["127.0.0.1", "localhost", "127.0.0.2", "127.1"]
            results = await ask_each([server.url(host=host) for host in hosts], network)
            return results, server.connections

    results, connections = run(loop, main())
    assert [isinstance(result, Response) for result in results] == [True, False, False, True]
    assert connections == 1


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def tls_context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


async def over_tls(context: ssl.SSLContext, network: NetworkPolicy) -> Result:
    async with serving(OK, keep_alive=True, tls=context) as server:
        results = await ask_each([server.url()], network)
        return results[0]


def test_tls_with_the_right_authority(authority: trustme.CA, loop: Loop) -> None:
    with authority.cert_pem.tempfile() as ca_file:
        network = NetworkPolicy(allow_private=True, ca_file=ca_file)
        result = run(loop, over_tls(tls_context(authority, "127.0.0.1"), network))
    assert isinstance(result, Response), result
    assert (result.body, result.http_version) == (b"ok", "1.1")


def test_tls_without_the_authority_is_refused(authority: trustme.CA, loop: Loop) -> None:
    result = run(loop, over_tls(tls_context(authority, "127.0.0.1"), LOOPBACK))
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.TLS_FAILED
    assert "certificate" in result.verdict.rule


def test_tls_for_another_host_is_refused(authority: trustme.CA, loop: Loop) -> None:
    with authority.cert_pem.tempfile() as ca_file:
        network = NetworkPolicy(allow_private=True, ca_file=ca_file)
        result = run(loop, over_tls(tls_context(authority, "elsewhere.example"), network))
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.TLS_FAILED
    assert "127.0.0.1" in result.verdict.rule


def test_plain_http_on_a_tls_port_is_refused(loop: Loop) -> None:
    async def main() -> Result:
        async def plain(_reader: asyncio.StreamReader, writer: Writer) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(plain, "127.0.0.1", 0)
        asked = Request(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        async with server:
            result: Result = await with_fetcher(lambda fetcher: fetcher.fetch(asked))
            return result

    result = run(loop, main())
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.TLS_FAILED
