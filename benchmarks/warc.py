"""Writing WARC beside warcio's writer and wget: ``python -m benchmarks.warc``.

Real pages of Debian's documentation packages, each with its request and response; Sumi writes a third record,
the outcome. Times are processor time. wget cannot write without fetching, so its figure is what it takes for
the same pages with ``--warc-file`` more than without, the median of several rounds in turn.
"""

import asyncio
import io
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks.dictionary import pages_of
from benchmarks.fidelity_corpus import SOURCES
from benchmarks.serving import free_port, served
from sumi.files.warc import WarcRecorder
from sumi.model import Candidate, Exchange, Response, Timing
from sumi.outcomes import Outcome, Verdict

MOST_OF_A_SITE: Final = 200
REQUEST: Final = b"GET /page HTTP/1.1\r\nHost: docs.example.org\r\nAccept: text/html\r\n\r\n"
FIELDS: Final = [("Server", "nginx"), ("Content-Type", "text/html"), ("Vary", "Accept-Encoding")]
ROUNDS: Final = 3
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
            report(name, spent, path)
    if shutil.which("wget"):
        with tempfile.TemporaryDirectory() as folder:
            spent, path = by_wget(pages, Path(folder))
            report("wget", 1e6 * spent / len(pages), path)


def report(name: str, spent: float, path: Path) -> None:
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


def by_wget(pages: Sequence[bytes], folder: Path) -> tuple[float, Path]:
    site = folder / "site"
    site.mkdir()
    for number, page in enumerate(pages):
        (site / f"{number}.html").write_bytes(page)
    archive = folder / "wget.warc.gz"
    port = free_port()
    with served(site, port):
        urls = (f"http://127.0.0.1:{port}/{number}.html\n" for number in range(len(pages)))
        (folder / "list").write_text("".join(urls))
        plain = ["wget", "-q", "--no-proxy", "-i", str(folder / "list"), "-O", "/dev/null"]
        with_warc = [*plain, f"--warc-file={folder / 'wget'}"]
        times = [(spent_by(with_warc), spent_by(plain)) for _ in range(ROUNDS)]
    return median(warc - bare for warc, bare in times), archive


def spent_by(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
