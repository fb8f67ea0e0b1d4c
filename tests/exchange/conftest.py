"""A small mirror with images, links and two kinds of names, which exports are made of."""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--retries", "0", "-q")


def png(width: int) -> bytes:
    """A black picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress((b"\0" * (width + 1)) * width)
    head = struct.pack(">IIBBBBB", width, width, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        site.put("shot.png", png(7))
        names = ("guide/start.html", "guide/", "api.html", "templates/", "README.html")
        site.write("index.html", "".join(f'<p>See <a href="/{name}">{name}</a>.</p>' for name in names))
        site.write(
            "guide/start.html",
            '<p>First <a href="/api.html#calls">call</a>, then <a href="/gone.html">this</a>.</p>'
            '<p><img src="/shot.png" alt="A shot"></p><h2 id="next">Next &amp; last</h2>'
            "<pre><code>a &lt; b  # [no](link)</code></pre><table><tr><th>k<th>v<tr><td>1<td>2</table>",
            "Start here",
        )
        site.write("guide/index.html", '<p>All <a href="start.html">steps</a> of the guide.</p>', "The guide")
        site.write(
            "api.html",
            '<h2 id="calls">Calls</h2><p>A <a href="#calls">call</a> each, as '
            '<a href="https://a.test/x#%_s">there</a>.</p><ul>loose<p>in a list</p></ul>',
            "API: all",
        )
        site.write("templates/index.html", "<p>A folder that builders leave out.</p>", "Templates")
        site.write("README.html", "<p>A name that means something else to builders.</p>", "Read me")
        yield site


@pytest.fixture
def mirrored(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> Path:
    """The output folder of a mirror of six pages and an image."""
    done = run_sumi("mirror", site.url, *FAST, "--assets", "--rewrite-links", "--warc", "site.warc.gz")
    assert done.returncode == 1, done.stderr  # one link is dead
    return tmp_path / "output"
