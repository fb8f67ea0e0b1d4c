"""Paths of pages: none leads out of the output folder, and no two pages share one on any common disk."""

import posixpath
import unicodedata

from fuzz.inputs import as_lines
from sumi.policy import Preset
from sumi.urls import normalize
from sumi.urls.paths import NAME_BYTES, PATH_BYTES, PathAllocator, host_folder

_MOST_URLS = 20


def check(data: bytes) -> None:
    """A URL per line, as found and as normalized."""
    raw = as_lines(data, _MOST_URLS)
    tidy = [normalize(f"http://example.com/{line}", Preset.CAPTURE) for line in raw]
    urls = list(dict.fromkeys(raw + [url for url in tidy if url is not None]))
    allocator = PathAllocator()
    paths = {url: allocator.claim(url) for url in urls}
    for path in paths.values():
        _check_path(path)
    assert len({_folded(path) for path in paths.values()}) == len(urls)
    assert {url: allocator.claim(url) for url in reversed(urls)} == paths
    _check_restored(paths)
    for url in urls:
        _check_name(host_folder(url))


def _check_restored(paths: dict[str, str]) -> None:
    allocator = PathAllocator()
    for url, path in paths.items():
        allocator.restore(url, path)
    assert {url: allocator.claim(url) for url in reversed(paths)} == paths


def _check_path(path: str) -> None:
    assert posixpath.normpath(path) == path
    assert not posixpath.isabs(path)
    assert path.endswith("/index.md")
    assert len(path.encode()) <= PATH_BYTES
    for name in path.split("/"):
        _check_name(name)


def _check_name(name: str) -> None:
    assert name not in ("", ".", "..")
    assert len(name.encode()) <= NAME_BYTES
    assert not set(name) & set('\\/:*?"<>|\0\n\r\t')
    assert not name.endswith((" ", "."))


def _folded(path: str) -> str:
    return unicodedata.normalize("NFKC", path).casefold() if path.isascii() else _fully_folded(path)


def _fully_folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())
