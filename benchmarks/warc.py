"""Writing WARC beside warcio's writer: ``python -m benchmarks.warc``.

Real pages of Debian's documentation packages, each with its request and response; Sumi writes a third record,
the outcome. Times are processor time.
"""

import asyncio
import io
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks.dictionary import pages_of
from benchmarks.fidelity_corpus import SOURCES
from sumi.files.warc import WarcRecorder
from sumi.model import Candidate, Exchange, Response, Timing
from sumi.outcomes import Outcome, Verdict

MOST_OF_A_SITE: Final = 200
REQUEST: Final = b"GET /page HTTP/1.1\r\nHost: docs.example.org\r\nAccept: text/html\r\n\r\n"
FIELDS: Final = [("Server", "nginx"), ("Content-Type", "text/html"), ("Vary", "Accept-Encoding")]
CAPTURED: Final = Verdict(Outcome.CAPTURED, "HTTP 200")


def main() -> None:
    pages = [page for source in SOURCES for page in pages_of(source)[:MOST_OF_A_SITE]]
    print(f"{len(pages):,} pages of {sum(map(len, pages)) / len(pages) / 1000:.0f} KB")
    writers: dict[str, Callable[[Sequence[bytes], Path], None]] = {"sumi": by_sumi, "warcio": by_warcio}
    for name, write in writers.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pages.warc.gz"
            started = time.process_time()
            write(pages, path)
            spent = 1e6 * (time.process_time() - started) / len(pages)
            print(f"{name:10} {spent:6.0f} µs a page  {path.stat().st_size / 1e6:6.1f} MB")


def url_of(number: int) -> str:
    return f"https://docs.example.org/{number}"


class _NoLedger:
    async def records(self, outcomes: object = None) -> Any:
        return
        yield


def by_sumi(pages: Sequence[bytes], path: Path) -> None:
    recorder = WarcRecorder(path)
    asyncio.run(recorder.load(_NoLedger()))  # type: ignore[arg-type]
    head = b"HTTP/1.1 200 OK\r\n" + b"".join(f"{name}: {value}\r\n".encode() for name, value in FIELDS)
    timing = Timing(1.0, 1.0, 1.0)
    for number, page in enumerate(pages):
        exchange = Exchange(REQUEST, head, page)
        response = Response(url_of(number), 200, (), page, timing, exchange=exchange)
        recorder.record(Candidate(response.url), response, CAPTURED, None, 1.0)
    recorder.close()


def by_warcio(pages: Sequence[bytes], path: Path) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number, page in enumerate(pages):
            sent = StatusAndHeaders(
                "GET /page HTTP/1.1", [("Host", "docs.example.org")], is_http_request=True
            )
            answer = StatusAndHeaders("200 OK", FIELDS, protocol="HTTP/1.1")
            request = writer.create_warc_record(url_of(number), "request", http_headers=sent)
            response = writer.create_warc_record(
                url_of(number), "response", payload=io.BytesIO(page), http_headers=answer
            )
            writer.write_request_response_pair(request, response)


if __name__ == "__main__":
    main()
