"""What a body is (a page, an image, a file): by its declared type, and by its first bytes."""

import re
from enum import StrEnum
from typing import Final
from urllib.parse import unquote


class Form(StrEnum):
    HTML = "html"
    MARKDOWN = "markdown"
    OTHER = "other"


_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_MARKDOWN_TYPES: Final = frozenset({"text/markdown", "text/x-markdown"})
# Servers send these for files whose type they do not know.
_UNSPECIFIC_TYPES: Final = frozenset({"", "application/octet-stream", "text/plain", "unknown/unknown"})

# The tags by which the MIME Sniffing standard knows HTML, after white space and before a blank or ">".
_HTML_START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\x0c\r ]*"
    rb"(?:<!--|<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >])",
    re.IGNORECASE,
)
_XHTML_START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<\?xml[^>]{0,256}\?>.{0,1024}?<html[\s>]", re.IGNORECASE | re.DOTALL
)

# What some servers call text/html all the same; parsed as such these would be pages of rubbish.
_BINARY_STARTS: Final = (
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"\x89PNG\r\n", "PNG"),
    (b"GIF8", "GIF"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x1f\x8b\x08", "gzip"),
)


def media_type(content_type: str) -> str:
    """``text/html`` out of ``Text/HTML; charset=x``; "" for a value that is no media type."""
    essence = content_type[:256].partition(";")[0].strip().lower()
    return essence if "/" in essence else ""


def is_unspecific(content_type: str) -> bool:
    """Whether only the content itself can tell what it is."""
    return media_type(content_type) in _UNSPECIFIC_TYPES


def form_of(content_type: str, body: bytes) -> tuple[Form, str]:
    """The form, and where it is OTHER the words for why."""
    declared = media_type(content_type)
    if declared in _MARKDOWN_TYPES:
        return Form.MARKDOWN, ""
    if declared in _HTML_TYPES:
        return _unless_binary(declared, body)
    if declared in _UNSPECIFIC_TYPES and looks_like_html(body):
        return Form.HTML, ""
    return Form.OTHER, f"content type {declared or 'not given'}"


def looks_like_html(body: bytes) -> bool:
    return _HTML_START.match(body) is not None or _XHTML_START.match(body[:2048]) is not None


def _unless_binary(declared: str, body: bytes) -> tuple[Form, str]:
    for start, name in _BINARY_STARTS:
        if body.startswith(start):
            return Form.OTHER, f"content type {declared}, but the content is {name}"
    return Form.HTML, ""


# The name under which a file is kept must not promise less than the file does: a program called a picture, or
# a web page called a document, would be run by whoever opens it. So its first bytes decide before its name.
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
    """By the first bytes of images that common programs show; None for others, whatever their type says."""
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
