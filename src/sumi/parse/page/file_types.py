"""What an image or a file is, by its first bytes rather than by what it is called.

The name under which something is kept must not promise less than it does: a program called a picture, or a
web page called a document, would be run by whoever opens it.
"""

import re
from typing import Final
from urllib.parse import unquote

from sumi.parse.page.media_type import looks_like_html, media_type

# Extensions that a file keeps. Nothing among them is run, or shown by a browser as a page with scripts.
_DOCUMENTS: Final = """
pdf epub djvu ps rtf odt ods odp doc docx xls xlsx ppt pptx
csv tsv json jsonl ndjson yaml yml toml ini txt log md rst tex bib diff patch sql
zip gz tgz bz2 tbz2 xz txz zst 7z rar tar whl
mp3 ogg oga opus flac wav m4a mp4 m4v webm mov mkv avi
woff woff2 ttf otf npz npy h5 parquet sqlite ipynb iso img
"""
_IMAGES: Final = "png jpg jpeg gif webp avif heic bmp ico tif tiff svg"
KEPT_EXTENSIONS: Final = frozenset(f"{_DOCUMENTS} {_IMAGES}".split())
# Links to these are to things, not to pages, also where their extension is not kept.
_PROGRAM_FILES: Final = "exe msi dmg pkg deb rpm apk jar xml js css py c h cpp sh ps1 bat"
_DOWNLOADS: Final = KEPT_EXTENSIONS - {"md", "rst", "txt"} | frozenset(_PROGRAM_FILES.split())
_MEDIA_TYPES: Final = {
    "application/pdf": "pdf",
    "application/epub+zip": "epub",
    "application/zip": "zip",
    "application/gzip": "gz",
    "application/x-gzip": "gz",
    "application/x-tar": "tar",
    "application/json": "json",
    "text/csv": "csv",
    "text/plain": "txt",
    "audio/mpeg": "mp3",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "font/woff2": "woff2",
}
_STARTS: Final = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"\xff\xd8\xff", "jpg"),
    (b"BM", "bmp"),
    (b"\x00\x00\x01\x00", "ico"),
    (b"II*\x00", "tif"),
    (b"MM\x00*", "tif"),
)
_BRANDS: Final = {b"avif": "avif", b"avis": "avif", b"heic": "heic", b"mif1": "heic"}
_SVG: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,256}\?>|<!--.{0,2000}?-->|<!DOCTYPE svg[^>]{0,512}>|\s)*<svg[\s>]",
    re.IGNORECASE | re.DOTALL,
)
# Programs of Windows, Linux and macOS, Java classes, scripts that name their interpreter, Windows links.
_PROGRAMS: Final = (
    b"MZ",
    b"\x7fELF",
    b"\xfe\xed\xfa",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"#!",
    b"L\0\0\0",
)
_EXTENSION: Final = re.compile(r"\.([A-Za-z0-9]{1,8})\Z")
_BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1a]")
_LOOKED_AT: Final = 4096


def image_extension(body: bytes) -> str | None:
    """Of an image that common programs show; None for anything else, whatever its type or name says."""
    for start, extension in _STARTS:
        if body.startswith(start):
            return extension
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return "webp"
    if body[4:8] == b"ftyp":
        return _BRANDS.get(body[8:12])
    return "svg" if _SVG.match(body[:_LOOKED_AT]) else None


def file_extension(url: str, content_type: str, body: bytes) -> str | None:
    """By which a file is kept, None for a web page. What nobody should open unawares ends in ``bin``, text of
    a kind that is run somewhere in ``txt``."""
    image = image_extension(body)
    if image is not None:
        return image
    if looks_like_html(body):
        return None
    if body.startswith(_PROGRAMS):
        return "bin"
    extension = url_extension(url)
    if extension in KEPT_EXTENSIONS and extension not in _IMAGES.split():
        return extension
    return _MEDIA_TYPES.get(media_type(content_type)) or (
        "bin" if _BINARY.search(body[:_LOOKED_AT]) else "txt"
    )


def named_like_a_file(url: str) -> bool:
    """Whether a link promises something to download."""
    return url_extension(url) in _DOWNLOADS


def url_extension(url: str) -> str:
    """In lower case, without its dot; "" if the path has none."""
    path = url.partition("#")[0].partition("?")[0].partition("://")[2].partition("/")[2]
    found = _EXTENSION.search(unquote(path.rpartition("/")[2], errors="replace"))
    return found[1].lower() if found else ""
