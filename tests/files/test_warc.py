"""A WARC file has one writer, stores what was sent, and holds every settled page once, despite kills."""

import asyncio
import gzip
import io
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from sumi.errors import StateLocked
from sumi.files.warc import OPEN_SUFFIX, WarcRecorder
from sumi.model import Candidate, Exchange, Hop, Kind, PageFacts, Response, Timing
from sumi.outcomes import Outcome, Verdict
from sumi.ports import UrlRecord

CAPTURED = Verdict(Outcome.CAPTURED, "HTTP 200")
REQUEST = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"


class FakeLedger:
    def __init__(self, settled: Iterable[str] = ()) -> None:
        self._settled = list(settled)

    async def records(self, outcomes: object = None) -> AsyncIterator[UrlRecord]:
        for number, name in enumerate(self._settled):
            url, facts = f"https://example.org/{number}", PageFacts(warc=name)
            yield UrlRecord(url, Hop.LINK, Kind.PAGE, 1, None, Outcome.CAPTURED, "", 1.0, 0, facts)


def warc_files(path: Path) -> Iterator[Path]:
    """All files that runs with ``--warc path`` finished, in the order in which they were begun."""
    number, found = 1, path
    stem = path.name.removesuffix(".warc.gz")
    while found.exists():
        yield found
        number += 1
        found = path.with_name(f"{stem}-{number}.warc.gz")


def opened(path: Path, settled: Iterable[str] = (), **options: int) -> WarcRecorder:
    recorder = WarcRecorder(path, **options)
    asyncio.run(recorder.load(FakeLedger(settled)))  # type: ignore[arg-type]
    return recorder


def add(recorder: WarcRecorder, number: int, before: PageFacts | None = None, **changes: object) -> str:
    page = answer(number, **changes)
    return recorder.record(
        Candidate(page.url, Hop.LINK, referrer="https://example.org/"), page, CAPTURED, before, 9.0
    )


def answer(number: int, **changes: object) -> Response:
    head = b"HTTP/1.1 200 Very well\r\nX-Second: 2\r\nContent-Type: text/html\r\nETag: a\r\n"
    exchange = Exchange(REQUEST, head, b"body")
    page = Response(
        f"https://example.org/{number}",
        200,
        (),
        b"body",
        Timing(1.0, 2.0, 3.0),
        peer="192.0.2.1",
        exchange=exchange,
    )
    return msgspec.structs.replace(page, **changes)


def test_what_a_kill_tore_is_cut_off_and_the_rest_kept(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    recorder = opened(path)
    names = [add(recorder, number) for number in range(3)]
    recorder.close()
    torn = path.rename(path.with_name(path.name + OPEN_SUFFIX))
    torn.write_bytes(torn.read_bytes()[:-20])
    opened(path, names).close()
    assert not torn.exists()
    assert _uris(path) == [f"https://example.org/{n}" for n in range(3)]  # only the last outcome was torn
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_page_that_was_not_settled_before_a_kill_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    recorder = opened(path)
    names = [add(recorder, number) for number in range(5)]
    killed = path.with_name(path.name + OPEN_SUFFIX).read_bytes()
    recorder.close()
    path.unlink()
    path.with_name(path.name + OPEN_SUFFIX).write_bytes(killed)
    again = opened(path, [names[0], names[3]])
    add(again, 1)
    again.close()
    assert [_uris(file) for file in warc_files(path)] == [
        ["https://example.org/0", "https://example.org/3"],
        ["https://example.org/1"],
    ]
    assert len(_records(path)) == 1 + 2 * 3  # the software; of each page response, request and outcome


def test_a_page_whose_settlement_was_refused_is_withdrawn(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    recorder = opened(path)
    refused, _ = add(recorder, 0), add(recorder, 1)
    recorder.withdraw(refused)
    recorder.close()
    assert _uris(path) == ["https://example.org/1"]


def test_a_record_is_flushed_before_its_page_can_be_settled(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    recorder = opened(path)
    for number in range(2):
        add(recorder, number)
        as_if_killed_now = path.with_name(path.name + OPEN_SUFFIX)
        assert len(_uris(as_if_killed_now)) == number + 1
    recorder.close()


def test_a_full_file_is_followed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    recorder = opened(path, segment_bytes=1500)
    for number in range(6):
        add(recorder, number)
    recorder.close()
    files = list(warc_files(path))
    assert len(files) > 1
    assert [uri for file in files for uri in _uris(file)] == [f"https://example.org/{n}" for n in range(6)]
    assert all(_records(file)[0].rec_type == "warcinfo" for file in files)


def test_messages_are_stored_as_they_were_sent(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    recorder = opened(path)
    add(recorder, 0)
    recorder.close()
    text = gzip.decompress(path.read_bytes())
    assert b"HTTP/1.1 200 Very well\r\nX-Second: 2\r\nContent-Type: text/html\r\nETag: a\r\n\r\nbody" in text
    assert REQUEST in text
    assert b"outcome: captured\r\nrule: HTTP 200\r\nvia: https://example.org/\r\nhop: link\r\n" in text


def test_joined_chunks_are_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    recorder = opened(path)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nServer: x\r\n"
    add(recorder, 0, exchange=Exchange(REQUEST, head, b"joined"))
    recorder.close()
    text = gzip.decompress(path.read_bytes())
    assert (
        b"OK\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\nServer: x\r\nContent-Length: 6\r\n\r\njoined"
        in text
    )


def test_http_2_is_written_as_readers_expect_it(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    recorder = opened(path)
    exchange = Exchange(REQUEST, b"HTTP/2 200 \r\nserver: x\r\n", b"body")
    add(recorder, 0, exchange=exchange, http_version="2")
    recorder.close()
    text = gzip.decompress(path.read_bytes())
    assert b"HTTP/1.1 200 OK\r\nserver: x\r\n\r\nbody" in text
    assert text.count(b"WARC-Protocol: h2\r\n") == 2


def test_an_unchanged_page_is_a_revisit_of_its_capture(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    recorder = opened(path)
    exchange = Exchange(REQUEST, b"HTTP/1.1 304 Not Modified\r\n", b"")
    first = add(recorder, 0)
    before = PageFacts(fetched_at=1.0, warc=first)
    add(recorder, 0, before, status=304, body=b"", exchange=exchange)
    recorder.close()
    (revisit,) = (each for each in _records(path) if each.rec_type == "revisit")
    assert revisit.rec_headers.get_header("WARC-Refers-To") == f"<urn:uuid:{first}>"
    assert revisit.rec_headers.get_header("WARC-Refers-To-Date") == "1970-01-01T00:00:01Z"
    assert revisit.rec_headers.get_header("WARC-Profile").endswith("/server-not-modified")


def test_a_page_without_an_answer_has_its_outcome_only(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    recorder = opened(path)
    recorder.record(Candidate("https://gone.test/"), None, Verdict(Outcome.DNS_FAILED, "unknown"), None, 9.0)
    recorder.close()
    assert [each.rec_type for each in _records(path)] == ["warcinfo", "metadata"]


def test_a_second_writer_is_refused_and_the_first_completes(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    first = opened(path)
    add(first, 0)
    with pytest.raises(StateLocked, match="being written by another process"):
        WarcRecorder(path)
    add(first, 1)
    first.close()
    assert len(_uris(path)) == 2
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_finished_file_of_the_same_name_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    for number in range(3):
        recorder = opened(path)
        add(recorder, number)
        recorder.close()
    assert [_uris(file) for file in warc_files(path)] == [[f"https://example.org/{n}"] for n in range(3)]


def test_a_run_without_a_page_leaves_no_file(tmp_path: Path) -> None:
    opened(tmp_path / "pages.warc.gz").close()
    assert list(tmp_path.iterdir()) == []


LINE = st.binary(max_size=40)


@settings(max_examples=60)
@given(st.lists(LINE, max_size=5), LINE, st.binary(max_size=200), st.text(max_size=20))
def test_whatever_a_server_sends_the_file_stays_valid(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], reason: bytes, body: bytes, rule: str
) -> None:
    path = tmp_path_factory.mktemp("warc") / "pages.warc.gz"
    head = b"HTTP/1.1 200 " + reason + b"\r\n" + b"".join(b"X: " + line + b"\r\n" for line in lines)
    recorder = opened(path)
    page = answer(0, exchange=Exchange(REQUEST, head, body))
    recorder.record(Candidate(page.url), page, Verdict(Outcome.CAPTURED, rule), None, 9.0)
    add(recorder, 1)
    recorder.close()
    assert len(_uris(path)) == 2


def _records(path: Path) -> list[Any]:
    return list(ArchiveIterator(io.BytesIO(path.read_bytes()), check_digests="raise"))


def _uris(path: Path) -> list[str]:
    records = ArchiveIterator(io.BytesIO(path.read_bytes()), check_digests="raise")
    return [r.rec_headers.get_header("WARC-Target-URI") for r in records if r.rec_type == "response"]


def test_a_second_reader_reads_every_record(tmp_path: Path) -> None:
    fastwarc = pytest.importorskip("fastwarc.warc")
    path = tmp_path / "pages.warc.gz"
    recorder = opened(path)
    for number in range(20):
        add(recorder, number)
    recorder.close()
    with path.open("rb") as file:
        records = [
            (record.headers["WARC-Type"], record.headers["WARC-Target-URI"], record.verify_block_digest())
            for record in fastwarc.ArchiveIterator(file, parse_http=False)
            if record.headers["WARC-Type"] != "warcinfo"
        ]
    assert all(is_right for *_, is_right in records)
    for kind in ("response", "request", "metadata"):
        assert [uri for name, uri, _ in records if name == kind] == [
            f"https://example.org/{number}" for number in range(20)
        ]
