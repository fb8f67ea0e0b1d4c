"""Trouble on the line: slowness, silence, resets, lengths that lie, and things that are not HTTP."""

from itertools import repeat

from tests.site.wire import HTML, Asked, Pause, Reply, Reset, Script, Stall, head, page, table

BODY = page("On the line", "<p>" + "All of this sentence has to arrive. " * 100 + "The end.</p>")
CHUNKED = [("Content-Type", HTML), ("Transfer-Encoding", "chunked")]


def _length(length: int) -> list[tuple[str, str]]:
    return [("Content-Type", HTML), ("Content-Length", str(length))]


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def slow_first_byte(asked: Asked) -> Script:
    """N milliseconds (300) of silence, then a page."""
    yield Pause(asked.number_or(300) / 1000)
    yield Reply(200, BODY).encode()


def slow_headers(asked: Asked) -> Script:
    """A header whose lines come N milliseconds (50) apart."""
    for line in Reply(200, BODY).head().splitlines(keepends=True):
        yield line
        yield Pause(asked.number_or(50) / 1000)
    yield BODY


def slow_drip(asked: Asked) -> Script:
    """A body that comes byte by byte, N milliseconds (50) apart."""
    yield Reply(200, BODY).head()
    for byte in BODY:
        yield bytes((byte,))
        yield Pause(asked.number_or(50) / 1000)


def never_answers(_asked: Asked) -> Script:
    """The request is read and nothing is ever said."""
    yield Stall()


def stalls_in_body(_asked: Asked) -> Script:
    """Half of the body, then silence."""
    yield Reply(200, BODY).head() + BODY[: len(BODY) // 2]
    yield Stall()


def reset_before_headers(_asked: Asked) -> Script:
    """A TCP reset instead of an answer."""
    yield Reset()


def reset_in_body(_asked: Asked) -> Script:
    """A TCP reset after half of the body."""
    yield Reply(200, BODY).head() + BODY[: len(BODY) // 2]
    yield Pause(0.05)  # a reset discards what the other side has not read yet
    yield Reset()


def close_before_headers(_asked: Asked) -> Script:
    """An orderly close instead of an answer."""
    yield b""


def short_content_length(_asked: Asked) -> Script:
    """Content-Length names half of what is sent."""
    yield head(200, _length(len(BODY) // 2)) + BODY


def long_content_length(_asked: Asked) -> Script:
    """Content-Length promises twice what is sent before the connection closes."""
    yield head(200, _length(len(BODY) * 2)) + BODY


def huge_content_length(_asked: Asked) -> Script:
    """Content-Length promises a terabyte, of which a page is sent before silence."""
    yield head(200, _length(1 << 40)) + BODY
    yield Stall()


def two_content_lengths(_asked: Asked) -> Script:
    """Two Content-Length headers that disagree."""
    yield head(200, [*_length(len(BODY)), ("Content-Length", "10")]) + BODY


def negative_content_length(_asked: Asked) -> Script:
    """Content-Length below zero."""
    yield head(200, _length(-1)) + BODY


def chunked_ok(_asked: Asked) -> Script:
    """A proper chunked body."""
    yield head(200, CHUNKED) + _chunk(BODY[:100]) + _chunk(BODY[100:]) + _chunk(b"")


def missing_last_chunk(_asked: Asked) -> Script:
    """A chunked body that ends without its last, empty chunk."""
    yield head(200, CHUNKED) + _chunk(BODY)


def bad_chunk_size(_asked: Asked) -> Script:
    """A chunk whose size is no number."""
    yield head(200, CHUNKED) + b"zebra\r\n" + BODY


def until_close_ok(_asked: Asked) -> Script:
    """HTTP/1.0 manners: no length, the body ends with the connection."""
    yield b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + BODY


def early_hints_ok(_asked: Asked) -> Script:
    """A 103 before the 200."""
    yield b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n" + Reply(200, BODY).encode()


def endless_body(_asked: Asked) -> Script:
    """A body without length or end, as fast as it is read."""
    yield head(200, [("Content-Type", HTML)]) + page("No end")
    yield from repeat(b"<p>And another paragraph.</p>\n" * 2000)


def endless_chunks(_asked: Asked) -> Script:
    """Chunk after chunk for ever."""
    yield head(200, CHUNKED)
    yield from repeat(_chunk(b"<p>And another chunk.</p>\n" * 2000))


def endless_headers(_asked: Asked) -> Script:
    """Header lines for ever."""
    yield b"HTTP/1.1 200 OK\r\n"
    yield from repeat(b"X-More: and more and more and more\r\n" * 500)


def endless_interim(_asked: Asked) -> Script:
    """Interim answers for ever."""
    yield from repeat(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" * 200)


def huge_header_line(asked: Asked) -> Reply:
    """One header line of N bytes (2 MiB)."""
    return Reply(200, BODY, headers=(("X-Huge", "h" * asked.number_or(2 << 20)),))


def many_headers(asked: Asked) -> Reply:
    """N header lines (5,000)."""
    fields = tuple((f"X-Number-{i}", "one of many") for i in range(asked.number_or(5000)))
    return Reply(200, BODY, headers=fields)


def nul_in_header(_asked: Asked) -> Reply:
    """A NUL, an escape sequence and Latin-1 bytes in a header value."""
    return Reply(200, BODY, headers=(("X-Odd", "a\0b\x1b[31mc\xe9"),))


def no_status_line(_asked: Asked) -> Script:
    """HTML from the first byte, as HTTP/0.9 had it."""
    yield BODY


def bad_status_line(_asked: Asked) -> Script:
    """A status that is no number."""
    yield b"HTTP/1.1 OK fine\r\nContent-Type: text/html\r\n\r\n" + BODY


def garbage(_asked: Asked) -> Script:
    """Bytes of no protocol at all."""
    yield bytes(range(256)) * 40


ROUTES = table(
    slow_first_byte,
    slow_headers,
    slow_drip,
    never_answers,
    stalls_in_body,
    reset_before_headers,
    reset_in_body,
    close_before_headers,
    short_content_length,
    long_content_length,
    huge_content_length,
    two_content_lengths,
    negative_content_length,
    chunked_ok,
    missing_last_chunk,
    bad_chunk_size,
    until_close_ok,
    early_hints_ok,
    endless_body,
    endless_chunks,
    endless_headers,
    endless_interim,
    huge_header_line,
    many_headers,
    nul_in_header,
    no_status_line,
    bad_status_line,
    garbage,
)
