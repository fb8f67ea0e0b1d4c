"""Sitemaps: any bytes are read in any pieces, and every address in them can be requested over HTTP."""

from fuzz.inputs import as_choice
from sumi.parse.sitemap.reader import Sitemap, SitemapReader, read_sitemap

_BASE = "https://example.com/maps/sitemap.xml"
_MAX_BYTES = 1 << 20
_MAX_ENTRIES = 1000


def check(data: bytes) -> None:
    """The first byte is the size of the pieces in which the rest arrives."""
    size, body = as_choice(data)
    whole = read_sitemap(body, _BASE, max_entries=_MAX_ENTRIES, max_bytes=_MAX_BYTES)
    _check_content(whole)
    # Damage costs what had not left the decompressor, which does depend on the pieces.
    if size and "gzip" not in whole.problem:
        pieces = _read_in_pieces(body, size)
        assert (pieces.entries, pieces.children) == (whole.entries, whole.children)


def _read_in_pieces(body: bytes, size: int) -> Sitemap:
    reader = SitemapReader(_BASE, max_entries=_MAX_ENTRIES, max_bytes=_MAX_BYTES)
    for start in range(0, len(body), size):
        reader.feed(body[start : start + size])
    return reader.close()


def _check_content(sitemap: Sitemap) -> None:
    addresses = [entry.url_raw for entry in sitemap.entries] + sitemap.children
    assert len(addresses) <= 2 * _MAX_ENTRIES
    for address in addresses:
        assert address.lower().startswith(("http://", "https://")), address
    for entry in sitemap.entries:
        assert entry.lastmod is None or len(entry.lastmod) <= 64
    assert sitemap.problem.isprintable(), sitemap.problem
    assert sitemap.entries or sitemap.children or sitemap.problem or sitemap.format
