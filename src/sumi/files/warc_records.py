"""The records of a WARC 1.1 file, each a gzip member of its own.

Messages are stored as they were sent, with three exceptions: chunks are joined, so a ``Transfer-Encoding`` is
renamed; a status line of HTTP/2 is written as one of HTTP/1.1, which readers expect (``WARC-Protocol`` says
what it was); and the fetcher leaves out the lines of a request that hold secrets. A body keeps its content
coding.
"""

import base64
import hashlib
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final, NamedTuple
from uuid import uuid4

from isal import igzip

from sumi import __version__
from sumi.files.plain_text import iso_utc
from sumi.model import Candidate, Exchange, PageFacts, Response
from sumi.outcomes import Verdict

NOT_MODIFIED: Final = 304
_UNCHANGED: Final = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_FIELDS: Final = b"application/warc-fields"
_ORIGINAL: Final = b"X-Archive-Orig-"
_RENAMED: Final = frozenset({b"transfer-encoding"})
# ISA-L's second level: a third larger than zlib's sixth, and ten times as fast (benchmarks.warc).
_LEVEL: Final = 2


class PageRecords(NamedTuple):
    """What is written for one settled page, as one piece. ``name`` identifies it in the ledger."""

    name: str
    members: bytes


def software_record(now: float) -> bytes:
    text = f"software: sumi/{__version__}\r\nformat: WARC File Format 1.1\r\n"
    return _member("warcinfo", _new_id(), now, _FIELDS, text.encode(), {})


def page_records(
    candidate: Candidate, response: Response | None, verdict: Verdict, before: PageFacts | None, now: float
) -> PageRecords:
    """``response``: None if none came; then only the outcome is recorded."""
    if response is None:
        name = _new_id()
        return PageRecords(name, _outcome(candidate, verdict, None, name, now, ""))
    members, name, at = [], _new_id(), response.timing.started
    if response.exchange is None:
        at_end, kind = response.timing.finished, response.header("content-type") or ""
        members.append(resource_record(response.url, at_end, kind, response.body, name))
    else:
        members.append(_answer(response, response.exchange, name, before))
        members.append(_request(response, response.exchange, name))
        if response.rendered:
            members.append(_rendered(response, name))
    members.append(_outcome(candidate, verdict, response, _new_id(), at, name))
    return PageRecords(name, b"".join(members))


def resource_record(url: str, at: float, content_type: str, body: bytes, name: str = "") -> bytes:
    """A body whose headers are not known: a response would have to be made up."""
    # Other programs may write spools, too: a content type must not break out of its line.
    kind = " ".join((content_type or "application/octet-stream").split())
    fields = {"WARC-Target-URI": url, "WARC-Payload-Digest": payload_digest(body)}
    return _member("resource", name or _new_id(), at, kind.encode(errors="replace"), body, fields)


def _answer(response: Response, exchange: Exchange, name: str, before: PageFacts | None) -> bytes:
    fields = {"WARC-Target-URI": response.url, "WARC-Payload-Digest": payload_digest(exchange.body)}
    if response.peer:
        fields["WARC-IP-Address"] = response.peer
    if exchange.cut:
        fields["WARC-Truncated"] = "length"
    fields |= _protocol(response)
    kind = "response"
    if response.status == NOT_MODIFIED and before is not None and before.fetched_at is not None:
        kind = "revisit"
        fields |= {
            "WARC-Profile": _UNCHANGED,
            "WARC-Refers-To-Target-URI": response.url,
            "WARC-Refers-To-Date": iso_utc(before.fetched_at),
        }
        if before.warc:
            fields["WARC-Refers-To"] = _urn(before.warc)
    block = _head_of(response, exchange) + b"\r\n" + exchange.body
    media = b"application/http; msgtype=response"
    return _member(kind, name, response.timing.started, media, block, fields)


def _request(response: Response, exchange: Exchange, answered_by: str) -> bytes:
    head = b"".join(line + b"\r\n" for line in _lines(exchange.request_head))
    fields = {"WARC-Target-URI": response.url, "WARC-Concurrent-To": _urn(answered_by)}
    fields |= _protocol(response)
    media = b"application/http; msgtype=request"
    return _member("request", _new_id(), response.timing.started, media, head + b"\r\n", fields)


def _rendered(response: Response, original: str) -> bytes:
    """The page as a browser showed it."""
    fields = {
        "WARC-Target-URI": response.url,
        "WARC-Refers-To": _urn(original),
        "WARC-Payload-Digest": payload_digest(response.body),
    }
    at = response.timing.finished
    return _member("conversion", _new_id(), at, b"text/html; charset=utf-8", response.body, fields)


def _outcome(
    candidate: Candidate, verdict: Verdict, response: Response | None, name: str, at: float, of: str
) -> bytes:
    lines = [("outcome", verdict.outcome.value), ("rule", verdict.rule)]
    if candidate.referrer:
        lines.append(("via", candidate.referrer))
    lines += [("hop", candidate.hop.value), ("linksFromSeed", str(candidate.depth))]
    if response is not None:
        took = response.timing.finished - response.timing.started
        lines.append(("fetchTimeMs", f"{took * 1000:.0f}"))
    block = "".join(f"{key}: {' '.join(value.split())}\r\n" for key, value in lines)
    fields = {"WARC-Target-URI": candidate.target if response is None else response.url}
    if of:
        fields["WARC-Concurrent-To"] = _urn(of)
    return _member("metadata", name, at, _FIELDS, block.encode("utf-8", "replace"), fields)


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────


def _head_of(response: Response, exchange: Exchange) -> bytes:
    """Status line and fields as received, order, spelling and reason phrase included."""
    status, *fields = _lines(exchange.response_head) or [b""]
    if not response.http_version.startswith("1"):
        status = _status_line(response.status)
    renamed = [_ORIGINAL + line if _name(line) in _RENAMED else line for line in fields]
    if renamed != fields:
        renamed.append(b"Content-Length: %d" % len(exchange.body))
    return b"".join(line + b"\r\n" for line in (status, *renamed))


def _status_line(status: int) -> bytes:
    known = {each.value: each.phrase for each in HTTPStatus}
    return f"HTTP/1.1 {status} {known.get(status, '')}".encode()


def _lines(head: bytes) -> Sequence[bytes]:
    """Without their ends, and without what would end them early."""
    return [
        line.rstrip(b"\r").replace(b"\r", b" ").replace(b"\0", b" ")
        for line in head.split(b"\n")
        if line.strip()
    ]


def _name(line: bytes) -> bytes:
    return line.partition(b":")[0].strip().lower()


def _protocol(response: Response) -> dict[str, str]:
    version = response.http_version
    return (
        {} if version.startswith("1") or not version else {"WARC-Protocol": f"h{version.partition('.')[0]}"}
    )


# ── records ──────────────────────────────────────────────────────────────────────────────────────────────


def _member(
    kind: str, name: str, at: float, content_type: bytes, block: bytes, fields: dict[str, str]
) -> bytes:
    head = {
        "WARC-Type": kind,
        "WARC-Record-ID": _urn(name),
        "WARC-Date": iso_utc(at),
        "Content-Length": str(len(block)),
        "WARC-Block-Digest": payload_digest(block),
        **fields,
    }
    lines = "".join(f"{key}: {value}\r\n" for key, value in head.items())
    record = b"".join(
        (
            f"WARC/1.1\r\n{lines}Content-Type: ".encode("utf-8", "replace"),
            content_type,
            b"\r\n\r\n",
            block,
            b"\r\n\r\n",
        )
    )
    return igzip.compress(record, _LEVEL, mtime=0)


def _new_id() -> str:
    return str(uuid4())


def _urn(name: str) -> str:
    return f"<urn:uuid:{name}>"


def payload_digest(data: bytes) -> str:
    """SHA-1 is what readers of the format expect; nothing here depends on its strength."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()
