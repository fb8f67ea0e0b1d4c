"""A response while it is received: counted, capped, and given up at the first limit that it exceeds."""

import re
from collections.abc import Callable
from typing import Final

import pycurl

from sumi.fetch.budget import Claim
from sumi.fetch.decode import content_codings
from sumi.fetch.headers import (
    Fields,
    all_values,
    declared_length,
    has_absurd_length,
    parse_fields,
    status_of,
    version_of,
)
from sumi.fetch.kept_connections import retries_request, speaks_of_surplus, was_refused
from sumi.model import Exchange
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FetchLimits

_VERSIONS = (b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2", b"HTTP/3")
# curl does not recognize a name followed by a blank; others do.
_MISSPELLED = re.compile(rb"^(?:content-length|transfer-encoding)[ \t]+:", re.IGNORECASE | re.MULTILINE)
_BOTH = Verdict(Outcome.BAD_HTTP, "Content-Length together with Transfer-Encoding")
_CODED = Verdict(Outcome.BAD_ENCODING, "a transfer coding other than chunked")


def contradiction(head: list[bytes], fields: Fields, *, expects_body: bool) -> Verdict | None:
    """What is wrong with complete headers, status line included; None if they are unambiguous.

    Headers may say two things about where the response ends. Which one a client believes decides what it
    reads, on a kept connection the next page as well (RFC 9112, section 6.3).
    """
    if head[0].split(None, 1)[0] not in _VERSIONS:
        return Verdict(Outcome.BAD_HTTP, "a status line of no known HTTP version")
    if len(head) > 1 and head[1][:1] in (b" ", b"\t"):
        return Verdict(Outcome.BAD_HTTP, "a header that continues none")
    if not expects_body:
        return None
    if _MISSPELLED.search(b"".join(head)):
        return Verdict(Outcome.BAD_HTTP, "a space after the name of a framing header")
    codings = all_values(fields, "transfer-encoding")
    if not codings:
        return None
    if all_values(fields, "content-length"):
        return _BOTH
    return None if [coding.lower() for coding in codings] == ["chunked"] else _CODED


_BLANK = (b"\r\n", b"\n")
_SWITCHING_PROTOCOLS = 101
_WITHOUT_BODY = frozenset({204, 304})

# What curl's callbacks return: everything was taken, or stop the transfer.
_TAKEN = None
_STOP = -1
_PAUSE: int = pycurl.WRITEFUNC_PAUSE


def _do_nothing() -> None:
    """Nothing waits any more."""


DROPPED: Final = Verdict(Outcome.CONNECTION_LOST, "connection closed without a response")


class Incoming:
    """One response, fed by curl's callbacks; ``broken`` is why it was given up, if it was.

    ``keep``: the request wants at most this many bytes of the body. Without a content coding the transfer is
    stopped there (``cut``), which is not a failure.
    """

    __slots__ = (
        "_can_cut",
        "_chunks",
        "_claim",
        "_head",
        "_head_bytes",
        "_keep",
        "_room",
        "_sent",
        "_wake",
        "_wants_body",
        "_was_refused",
        "broken",
        "codings",
        "cut",
        "fields",
        "limits",
        "paused",
        "status",
        "surplus",
        "version",
        "was_closed",
        "was_paused",
        "wire_bytes",
    )

    def __init__(
        self,
        limits: FetchLimits,
        keep: int | None,
        claim: Claim,
        wake: Callable[[], None],
        *,
        wants_body: bool,
    ) -> None:
        self.limits = limits
        self._keep = keep
        self._claim = claim
        self._wake = wake  # when there is room again
        self._wants_body = wants_body
        self._head: list[bytes] = []
        self._head_bytes = 0
        self._sent: list[bytes] = []  # the request's headers; those of a repetition last
        self._chunks: list[bytes] = []
        self._room = limits.wire_bytes
        self._can_cut = False
        self._was_refused = False
        self.status = 0  # until the headers are complete
        self.version = ""
        self.fields: Fields = ()
        self.codings: list[str] = []
        self.wire_bytes = 0
        self.cut = False
        self.paused = self.was_paused = False  # by us, while the budget is full
        self.surplus = False  # bytes came after the end, and were dropped
        self.was_closed = False  # curl closed the connection at the end
        self.broken: Verdict | None = None

    @property
    def heard_bytes(self) -> int:
        return self._head_bytes + self.wire_bytes

    def body(self) -> bytes:
        return self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)

    def exchange(self) -> Exchange:
        request = self._sent[-1] if self._sent else b""
        return Exchange(request, b"".join(self._head), self.body(), self.cut)

    @property
    def ends_connection(self) -> bool:
        """Whether the server closes the connection after this response."""
        options = ",".join(all_values(self.fields, "connection")).lower()
        return "close" in options or (self.version == "1.0" and "keep-alive" not in options)

    def discard(self) -> None:
        """Release the body: an idle curl handle refers to this object until it is used again."""
        self._chunks.clear()
        self._wake = _do_nothing  # it refers to the handle, and the handle to us

    def on_header(self, line: bytes) -> int | None:
        """A header line. Trailers come here too; they are counted and otherwise ignored."""
        self._head_bytes += len(line)
        if self._head_bytes > self.limits.header_bytes:
            return self._give_up(Outcome.BAD_HTTP, f"headers of more than {self.limits.header_bytes} bytes")
        if self.status:
            return _TAKEN
        if line in _BLANK:
            return self._end_of_head()
        if len(self._head) > self.limits.header_fields:
            return self._give_up(Outcome.BAD_HTTP, f"more than {self.limits.header_fields} headers")
        self._head.append(line)
        return _TAKEN

    def on_body(self, chunk: bytes) -> int | None:
        if not self._claim.take(len(chunk), self._wake):
            self.paused = self.was_paused = True
            return _PAUSE  # curl keeps the chunk and delivers it again
        self._chunks.append(chunk)
        self.wire_bytes += len(chunk)
        if self.wire_bytes <= self._room:
            return _TAKEN
        if self._can_cut:
            self.cut = True
            return _STOP
        return self._too_large()

    def on_words(self, kind: int, words: bytes) -> None:
        """curl's debug output: messages, and all data again."""
        if kind == pycurl.INFOTYPE_HEADER_OUT:
            self._sent.append(words)
        if kind != pycurl.INFOTYPE_TEXT:
            return
        if speaks_of_surplus(words):
            self.surplus = True
        elif was_refused(words):
            self._was_refused = True
        elif retries_request(words) and not self._was_refused:
            self.broken = DROPPED  # retries are not for curl to decide

    @property
    def expects_body(self) -> bool:
        return self._wants_body and self.status not in _WITHOUT_BODY

    @property
    def has_length(self) -> bool:
        return bool(all_values(self.fields, "content-length"))

    def _end_of_head(self) -> int | None:
        status = status_of(self._head[0]) if self._head else 0
        if status == _SWITCHING_PROTOCOLS:
            return self._give_up(Outcome.BAD_HTTP, "switched to another protocol without a request")
        if 100 <= status < 200:  # an interim response; the final one follows
            self._head.clear()
            return _TAKEN
        if status == 0:
            return self._give_up(Outcome.BAD_HTTP, "no status in the status line")
        self.status = status
        self.version = version_of(self._head[0])
        self.fields = parse_fields(self._head[1:])
        wrong = contradiction(self._head, self.fields, expects_body=self.expects_body)
        if wrong is not None:
            return self._give_up(wrong.outcome, wrong.rule)
        self.codings = content_codings(all_values(self.fields, "content-encoding"))
        return self._make_room()

    def _make_room(self) -> int | None:
        if self.codings:
            self._room = self.limits.wire_bytes
        else:
            self._room = min(self.limits.wire_bytes, self.limits.body_bytes)
            if self._keep is not None and self._keep <= self._room:
                self._room = self._keep
                self._can_cut = True
        if self.expects_body and not self._can_cut and self._promises_too_much():
            return self._too_large()
        return _TAKEN

    def _promises_too_much(self) -> bool:
        length = declared_length(self.fields)
        return length > self._room or (length == 0 and has_absurd_length(self.fields))

    def _too_large(self) -> int:
        return self._give_up(Outcome.TOO_LARGE, f"larger than {self._room} bytes")

    def _give_up(self, outcome: Outcome, rule: str) -> int:
        self.broken = Verdict(outcome, rule)
        return _STOP
