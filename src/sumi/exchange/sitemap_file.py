"""``sitemap.xml`` of what was captured, with the dates on which pages were found changed."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final
from xml.sax.saxutils import escape

from sumi.exchange.listing import Listed
from sumi.exchange.material import Material
from sumi.exchange.result import new_file
from sumi.files.plain_text import iso_utc

# Of the protocol, for one file; also below its 50 MB, as a URL has at most 2,048 characters for crawlers.
MOST_URLS: Final = 50_000
_SPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"


def write_sitemap(material: Material, target: Path) -> int:
    """More than one file may list: then parts beside it, and it lists those."""
    count = material.listing.count()
    pages = material.listing.by_url()
    if count <= MOST_URLS:
        with new_file(target) as file:
            return _write_urls(file, pages, material)
    parts = [target.with_name(f"{target.stem}-{n + 1}{target.suffix}") for n in range(-(-count // MOST_URLS))]
    for part in parts:
        with new_file(part) as file:
            _write_urls(file, islice(pages, MOST_URLS), material)
    with new_file(target) as file:
        _write(file, "sitemapindex", "sitemap", ((part.name, material.moment) for part in parts))
    return count


def _write_urls(file: BinaryIO, pages: Iterator[Listed], material: Material) -> int:
    def entries() -> Iterator[tuple[str, float | None]]:
        for listed in pages:
            material.tick()
            yield listed.page.url, listed.page.changed_at or listed.page.fetched_at or None

    return _write(file, "urlset", "url", entries())


def _write(file: BinaryIO, root: str, element: str, entries: Iterator[tuple[str, float | None]]) -> int:
    file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{_SPACE}">\n'.encode())
    count = 0
    for url, at in entries:
        date = "" if at is None else f"<lastmod>{iso_utc(at)}</lastmod>"
        line = f"<{element}><loc>{escape(url)}</loc>{date}</{element}>\n"
        file.write(line.encode("utf-8", "replace"))
        count += 1
    file.write(f"</{root}>\n".encode())
    return count
