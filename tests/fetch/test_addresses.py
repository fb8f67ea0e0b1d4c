"""The address is checked on every connection, and TLS is verified."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta

import pytest
import trustme

from sumi.model import Request, Response
from sumi.outcomes import Outcome, Trouble
from sumi.policy import NetworkPolicy
from tests.fetch.exchanges import (
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
from tests.fetch.raw_server import Writer, serving

pytestmark = on_both_loops


def test_a_port_without_a_server_is_connect_failed(loop: Loop) -> None:
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


def test_an_expired_certificate_is_refused(authority: trustme.CA, loop: Loop) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    yesterday = datetime.now(UTC) - timedelta(days=1)
    authority.issue_cert("127.0.0.1", not_after=yesterday).configure_cert(context)
    with authority.cert_pem.tempfile() as ca_file:
        network = NetworkPolicy(allow_private=True, ca_file=ca_file)
        result = run(loop, over_tls(context, network))
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.TLS_FAILED
    assert "expired" in result.verdict.rule


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_a_server_without_a_modern_protocol_is_refused(authority: trustme.CA, loop: Loop) -> None:
    context = tls_context(authority, "127.0.0.1")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    with authority.cert_pem.tempfile() as ca_file:
        network = NetworkPolicy(allow_private=True, ca_file=ca_file)
        result = run(loop, over_tls(context, network))
    assert isinstance(result, Trouble)
    # This server hangs up without saying why, which could as well be a broken line.
    assert (result.verdict.outcome, result.verdict.rule) == (
        Outcome.CONNECTION_LOST,
        "connection lost during the TLS handshake",
    )


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
