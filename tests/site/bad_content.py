"""Bodies that are not what their labels say, or that a parser would rather not meet."""

import zlib
from functools import lru_cache

from tests.site.wire import HTML, Asked, Reply, page, table

PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


def _png() -> bytes:
    """One black dot."""

    def part(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

    shape = b"\0\0\0\1\0\0\0\1\x08\0\0\0\0"
    return (
        b"\x89PNG\r\n\x1a\n"
        + part(b"IHDR", shape)
        + part(b"IDAT", zlib.compress(b"\0\0"))
        + part(b"IEND", b"")
    )


def plain(_asked: Asked) -> Reply:
    """An ordinary page: the control for all the others."""
    return Reply(200, page("Plain"))


def wrong_charset(_asked: Asked) -> Reply:
    """Windows-1252 bytes under a UTF-8 label."""
    return Reply(200, page("Charset", "<p>caf\u00e9 \u201cquoted\u201d</p>").decode().encode("cp1252"))


def unknown_charset(_asked: Asked) -> Reply:
    """UTF-8 under a label that names no charset."""
    return Reply(200, page("Charset", "<p>caf\u00e9</p>"), "text/html; charset=klingon-8")


def utf16(_asked: Asked) -> Reply:
    """UTF-16 with a byte order mark and no charset in the header."""
    return Reply(200, page("Wide", "<p>caf\u00e9</p>").decode().encode("utf-16"), "text/html")


def no_content_type(_asked: Asked) -> Reply:
    """HTML without a Content-Type."""
    return Reply(200, page("Untyped"), None)


def text_as_html(_asked: Asked) -> Reply:
    """HTML that calls itself text/plain."""
    return Reply(200, page("Typed as text"), "text/plain")


def pdf_as_html(_asked: Asked) -> Reply:
    """A PDF that calls itself HTML."""
    return Reply(200, PDF, HTML)


def html_as_pdf(_asked: Asked) -> Reply:
    """HTML that calls itself a PDF."""
    return Reply(200, page("Not a PDF"), "application/pdf")


def pdf(_asked: Asked) -> Reply:
    """An honest PDF."""
    return Reply(200, PDF, "application/pdf")


def image(_asked: Asked) -> Reply:
    """An honest image."""
    return Reply(200, _png(), "image/png")


def attachment(_asked: Asked) -> Reply:
    """HTML to be saved under a name that climbs out of its folder."""
    climbing = 'attachment; filename="../../../etc/cron.d/x"'
    return Reply(200, page("Attached"), headers=(("Content-Disposition", climbing),))


def empty_200(_asked: Asked) -> Reply:
    """200 and nothing."""
    return Reply(200)


def nul_bytes(_asked: Asked) -> Reply:
    """HTML with NULs in text, tags and attributes."""
    return Reply(200, page("Nul", '<p cl\0ass="\0">be\0fore</p>\0<a href="/bad/pl\0ain">after</a>'))


def deep_nesting(asked: Asked) -> Reply:
    """N (50,000) elements, each within the other."""
    depth = asked.number_or(50_000)
    return Reply(200, page("Deep", "<div>" * depth + "bottom" + "</div>" * depth))


def unclosed(_asked: Asked) -> Reply:
    """20,000 formatting elements that nobody closes, which a naive tree builder copies again and again."""
    return Reply(200, page("Unclosed", "<p><b><i><a href='/bad/plain'>x" * 5_000))


@lru_cache(maxsize=2)
def _paragraphs(size: int) -> bytes:
    line = "<p>One more paragraph of a page that somebody should have split long ago.</p>\n"
    return page("Huge", line * (size // len(line)))


def huge_page(asked: Asked) -> Reply:
    """A well-formed page of N MiB (8)."""
    return Reply(200, _paragraphs(asked.number_or(8) << 20))


def huge_attribute(_asked: Asked) -> Reply:
    """A link of 3 MiB, within a title of 1 MiB."""
    return Reply(200, page("t" * (1 << 20), f'<a href="/{"a" * (3 << 20)}">far</a>'))


def nested_tables(asked: Asked) -> Reply:
    """N (300) tables, each in a cell of the other."""
    depth = asked.number_or(300)
    return Reply(200, page("Tables", "<table><tr><td>" * depth + "core" + "</td></tr></table>" * depth))


def nasty_title(_asked: Asked) -> Reply:
    """A title with control characters, an escape sequence, bidi marks, YAML and a script."""
    script = "&lt;script&gt;alert(1)&lt;/script&gt;"
    return Reply(
        200, page("evil\x1b[31m\u202e\u0007: --- !!python/object {{x}} " + script + "\nsecond: line")
    )


def fence_breakout(_asked: Asked) -> Reply:
    """Code that holds Markdown fences, and text that holds front matter."""
    fences = "<pre><code>```\n~~~~\n```` x\n</code></pre>"
    return Reply(200, page("Fences", f"{fences}<p>---<br>title: forged<br>---</p>"))


ROUTES = table(
    plain,
    wrong_charset,
    unknown_charset,
    utf16,
    no_content_type,
    text_as_html,
    pdf_as_html,
    html_as_pdf,
    pdf,
    image,
    attachment,
    empty_200,
    nul_bytes,
    deep_nesting,
    unclosed,
    huge_page,
    huge_attribute,
    nested_tables,
    nasty_title,
    fence_breakout,
)
