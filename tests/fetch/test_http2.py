"""HTTP/2: a burst shares one connection; a request that a server did not process is repeated."""

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest
import trustme
from hyperframe.frame import ContinuationFrame, GoAwayFrame, HeadersFrame, PingFrame, SettingsFrame

from sumi.engine.io import SystemClock
from sumi.fetch.http import HttpFetcher
from sumi.model import Request, Response
from sumi.outcomes import Outcome, Trouble
from sumi.policy import FetchLimits, NetworkPolicy
from tests.fetch.exchanges import Loop, Result, on_both_loops, run
from tests.fetch.h2_server import H2Peer, H2Script, H2Server, serving_h2

pytestmark = on_both_loops

REFUSED_STREAM, INTERNAL_ERROR, ENHANCE_YOUR_CALM = 7, 2, 11
BURST = 8


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def network(authority: trustme.CA) -> Iterator[NetworkPolicy]:
    with authority.cert_pem.tempfile() as ca_file:
        yield NetworkPolicy(allow_private=True, ca_file=ca_file)


async def burst(
    script: H2Script, authority: trustme.CA, network: NetworkPolicy
) -> tuple[list[Result], H2Server]:
    """Several requests at once, then one more to see that the fetcher is still well."""
    async with serving_h2(script, authority) as server:
        fetcher = HttpFetcher(FetchLimits(connect=2, first_byte=2, total=5), network, SystemClock())
        try:
            asked = [fetcher.fetch(Request(server.url(f"/{number}"))) for number in range(BURST)]
            return await asyncio.gather(*asked), server
        finally:
            await fetcher.aclose()


def echo(peer: H2Peer, stream: int, path: str) -> None:
    peer.page(stream, path.encode())


def test_a_burst_of_pages_over_one_connection(
    loop: Loop, authority: trustme.CA, network: NetworkPolicy
) -> None:
    results, server = run(loop, burst(echo, authority, network))
    assert [result.body for result in results] == [b"/%d" % number for number in range(BURST)]
    assert {result.http_version for result in results} == {"2"}
    assert len(server.peers) == 1


def test_what_goaway_left_unprocessed_is_asked_again_on_another_connection(
    loop: Loop, authority: trustme.CA, network: NetworkPolicy
) -> None:
    def script(peer: H2Peer, stream: int, path: str) -> None:
        if peer.number:
            peer.page(stream, path.encode())
        elif len(peer.requests) == 4:
            processed = peer.requests[:2]
            for earlier, asked in processed:
                peer.page(earlier, asked.encode())
            peer.raw(GoAwayFrame(0, last_stream_id=processed[-1][0]).serialize())

    results, server = run(loop, burst(script, authority, network))
    assert [result.body for result in results] == [b"/%d" % number for number in range(BURST)]
    processed = {path for _, path in server.peers[0].requests[:2]}
    assert all(count == 1 for path, count in Counter(server.paths).items() if path in processed)
    assert max(Counter(server.paths).values()) == 2


def test_a_refused_stream_is_asked_again(loop: Loop, authority: trustme.CA, network: NetworkPolicy) -> None:
    refused: list[str] = []

    def script(peer: H2Peer, stream: int, path: str) -> None:
        if not refused:
            refused.append(path)
            peer.h2.reset_stream(stream, error_code=REFUSED_STREAM)
        else:
            peer.page(stream, path.encode())

    results, server = run(loop, burst(script, authority, network))
    assert all(isinstance(result, Response) for result in results)
    counts = Counter(server.paths)
    assert counts.pop(refused[0]) == 2
    assert set(counts.values()) == {1}


def always_refused(peer: H2Peer, stream: int, _path: str) -> None:
    peer.h2.reset_stream(stream, error_code=REFUSED_STREAM)


def reset_after_data(peer: H2Peer, stream: int, _path: str) -> None:
    peer.page(stream, b"half", end=False)
    peer.h2.reset_stream(stream, error_code=INTERNAL_ERROR)


def reset_before_headers(peer: H2Peer, stream: int, _path: str) -> None:
    peer.h2.reset_stream(stream, error_code=INTERNAL_ERROR)


def flood_of_settings(peer: H2Peer, stream: int, _path: str) -> None:
    peer.raw(SettingsFrame(0, settings={4: 65535}).serialize() * 20_000)


def flood_of_pings(peer: H2Peer, stream: int, _path: str) -> None:
    peer.raw(PingFrame(0, opaque_data=b"12345678").serialize() * 20_000)


def flood_of_headers(peer: H2Peer, stream: int, _path: str) -> None:
    begun = HeadersFrame(stream, data=b"\x88")
    more = ContinuationFrame(stream, data=b"\x40\x01a\x01b" * 1000)  # a thousand fields, and no end of it
    peer.raw(begun.serialize() + more.serialize() * 1000)


def go_away_at_once(peer: H2Peer, _stream: int, _path: str) -> None:
    peer.raw(GoAwayFrame(0, last_stream_id=0, error_code=ENHANCE_YOUR_CALM).serialize())
    peer.writer.close()


def hang_up(peer: H2Peer, _stream: int, _path: str) -> None:
    peer.writer.close()


def noise(peer: H2Peer, _stream: int, _path: str) -> None:
    peer.raw(b"\xff" * 5000)


HOSTILE = {
    script.__name__: script
    for script in (
        always_refused,
        reset_after_data,
        reset_before_headers,
        flood_of_settings,
        flood_of_pings,
        flood_of_headers,
        go_away_at_once,
        hang_up,
        noise,
    )
}
PASSING = {Outcome.CONNECTION_LOST, Outcome.TIMED_OUT, Outcome.BAD_HTTP}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_server_costs_its_own_pages_only(
    name: str, loop: Loop, authority: trustme.CA, network: NetworkPolicy
) -> None:
    results, server = run(loop, burst(HOSTILE[name], authority, network))
    assert all(isinstance(result, Trouble) for result in results), results
    assert {result.verdict.outcome for result in results} <= PASSING
    assert len(server.paths) <= 6 * BURST  # unprocessed requests are repeated, but not endlessly


def test_a_stream_that_was_begun_is_not_asked_for_twice(
    loop: Loop, authority: trustme.CA, network: NetworkPolicy
) -> None:
    results, server = run(loop, burst(reset_after_data, authority, network))
    assert {result.verdict.outcome for result in results} == {Outcome.CONNECTION_LOST}
    assert set(Counter(server.paths).values()) == {1}


def test_http2_can_be_declined(loop: Loop, authority: trustme.CA, network: NetworkPolicy) -> None:
    """A server that offers both is asked in HTTP/1.1 if that is the policy; here it speaks nothing else."""
    old = NetworkPolicy(allow_private=True, ca_file=network.ca_file, http2=False)
    results, server = run(loop, burst(echo, authority, old))
    assert all(isinstance(result, Trouble) for result in results)
    assert server.paths == []
