"""One hostile site, its mirror, and one window on it for all tests here that change nothing."""

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.commands import SpawnedSumi
from tests.folder_site import FolderSite
from tests.serve.windows import OpenWindow, opened
from tests.warm import Forked

EVIL_TITLE = "<img src=x onerror=alert(1)><script>alert(2)</script>"
# Everything by which a page could act: none of it may, wherever the window shows it.
HOSTILE = """
<script>fetch('/leak-script'); window.parent.document.title = 'taken'; alert(3)</script>
<meta http-equiv="refresh" content="6; url=/leak-refresh">
<link rel="stylesheet" href="/leak-style"><link rel="preconnect" href="//127.0.0.1:1/">
<link rel="prefetch" href="/leak-prefetch"><base href="/leak-base/">
<img src="/leak-image" onerror="alert(4)">
<svg onload="alert(5)"><a xlink:href="javascript:alert(6)">s</a></svg>
<iframe src="/leak-frame"></iframe></iframe></textarea></style><object data="/leak-object"></object>
<form action="/leak-form"><input name=q autofocus onfocus="this.form.submit()"><button>send</button></form>
<p style="background: url(/leak-background)">A paragraph of the hostile page, long enough to be kept.</p>
<p><a href="javascript:alert(7)">a script as a link</a> and <a href="/leak-link" id="out">a way out</a></p>
<p>Text that looks like markup: &lt;script&gt;alert(8)&lt;/script&gt; &lt;iframe src=/leak-text&gt; </p>
"""


class Library(NamedTuple):
    site: FolderSite
    folder: Path
    cache: Path

    @property
    def home(self) -> Path:
        return self.folder / self.site.home


def _run(folder: Path, *words: str) -> int:
    with tempfile.TemporaryDirectory() as said:
        return Forked(words, folder, Path(said, "out"), Path(said, "err")).wait(120)


def write_site(site: FolderSite) -> None:
    rest = "".join(f'<li><a href="part/page-{number}.html">page {number}</a>' for number in range(30))
    first = "".join(f'<a href="{name}.html">{name}</a> ' for name in ("hostile", "endless", "missing"))
    site.write("index.html", f"<p>Start. {first}<ul>{rest}</ul>")
    # Written as a file, so that its title is what it says and not text.
    title = EVIL_TITLE.replace("<", "&lt;")
    site.put("hostile.html", f"<html><title>{title}</title><body><main>{HOSTILE}</main>".encode())
    site.write("endless.html", "<p>Its title goes on.", title=f"A title without an end {'W' * 700}")
    for number in range(30):
        site.write(f"part/page-{number}.html", f"<p>Words of page {number}.", title=f"Page {number}")


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    base = tmp_path_factory.mktemp("window")
    site = FolderSite(base / "site")
    (base / "site").mkdir()
    write_site(site)
    site.start()
    try:
        code = _run(base, "mirror", site.url, "-o", "library", "--rate-limit", "0", "--quiet")
        assert code == 1  # one page is missing
        site.answers.clear()
        yield Library(site, base / "library", base / "cache")
    finally:
        site.stop()


@pytest.fixture(scope="session")
def window(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenWindow]:
    """Tests that stop it or change jobs open one of their own."""
    folder = tmp_path_factory.mktemp("served")
    started: list[Forked] = []

    def spawn(*words: str, env: dict[str, str] | None = None) -> SpawnedSumi:
        out, err = folder / "out", folder / "err"
        started.append(Forked(words, folder, out, err, env))
        return SpawnedSumi(started[-1], out, err)

    yield opened(spawn, str(library.folder), env={"XDG_CACHE_HOME": str(library.cache)})
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
