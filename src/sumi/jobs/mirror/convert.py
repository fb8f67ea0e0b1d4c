"""``sumi convert``: one page as Markdown, from a file, from memory or from the web.

For a page that is here already nothing of the engine is loaded: only the parser.
"""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import msgspec

from sumi.errors import SumiError, UsageError
from sumi.model import Kind
from sumi.parse.html import parse_html
from sumi.parse.markdown.link_targets import replace_targets
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.digester import digest_page
from sumi.parse.page.explain import Piece, pieces_left_out
from sumi.parse.page.javascript import needs_javascript
from sumi.parse.page.media_type import Form, form_of
from sumi.parse.page.metadata import read_metadata
from sumi.parse.page.text import charset_label
from sumi.policy import Preset
from sumi.settings.kinds import MIB
from sumi.urls import normalize

if TYPE_CHECKING:
    from sumi.jobs.mirror.settings import MirrorSettings

_LARGEST: Final = 64 * MIB
# Stands for this machine: the parser knows the addresses of the web only.
_HERE: Final = "https://file.invalid"
_MARKDOWN_NAMES: Final = (".md", ".markdown")


class Converted(msgspec.Struct, frozen=True):
    """A page as Markdown, and what is known about it."""

    url: str  # what its links were relative to; "" if that was its file
    markdown: str
    title: str | None = None
    description: str | None = None
    language: str | None = None
    canonical: str | None = None
    fidelity: float | None = None
    shortfalls: list[str] = []
    left_out: dict[str, int] = {}  # words by class
    pieces: list[Piece] = []  # what was left out, in the order of the page; only with ``explain``
    problem: str = ""  # a page that had to be degraded, and why
    javascript: str = ""  # why the page says next to nothing without scripts; "" if it does not


class NotConverted(SumiError):
    """There is no page to convert: it could not be fetched, or is none."""

    exit_code = 1


class _Source(msgspec.Struct, frozen=True):
    body: bytes
    content_type: str
    url: str  # of the web; "" if it is not known
    path: str  # on this machine, absolute


def convert(
    source: str | bytes | os.PathLike[str],
    *,
    base_url: str = "",
    explain: bool = False,
    **settings: object,
) -> Converted:
    """``sumi convert``: a URL, the path of a file, or the page itself as bytes or as text with a tag in it.

    ``settings`` are those of a mirror, and are for URLs only. Inside an event loop, convert URLs by
    ``asyncio.to_thread(sumi.convert, url)``."""
    if isinstance(source, str) and source.lower().startswith(("http://", "https://")):
        return convert_page(_fetched(source, settings), explain=explain)
    if settings:
        raise UsageError(f"{next(iter(settings))} is for URLs only, and no URL is to be converted")
    return convert_page(_read(source, _base_url(base_url)), explain=explain)


def convert_page(source: _Source, *, explain: bool) -> Converted:
    base = source.url or _base_in(source) or _HERE + quote(source.path)
    request = DigestRequest(
        base, source.body, source.content_type, Kind.PAGE, Preset.MIRROR, markdown=True, documents=True
    )
    digest = digest_page(request)
    if isinstance(digest, Undigested):
        raise NotConverted(
            f"{source.url or source.path}: not a page that can be converted: {digest.verdict.rule}"
        )
    is_here = base.startswith(_HERE)
    return Converted(
        url="" if is_here else base,
        markdown=_with_file_links(_text(digest)) if is_here else _text(digest),
        title=digest.title,
        description=digest.description,
        language=digest.language,
        canonical=digest.canonical,
        fidelity=digest.fidelity,
        shortfalls=digest.shortfalls,
        left_out=digest.left_out,
        pieces=_pieces(request) if explain else [],
        problem=digest.problem,
        javascript=needs_javascript(source.body),
    )


def _text(digest: PageDigest) -> str:
    text = (digest.markdown or "").strip("\n")
    return f"{text}\n" if text else ""


def _pieces(request: DigestRequest) -> list[Piece]:
    if form_of(request.content_type, request.body)[0] is not Form.HTML:
        return []
    document = parse_html(request.body, charset_label(request.content_type, request.body))
    return pieces_left_out(document, request.url)


def _base_in(source: _Source) -> str:
    """Where the page itself says that it is. A saved page has links relative to that."""
    if form_of(source.content_type, source.body)[0] is not Form.HTML:
        return ""
    facts = read_metadata(parse_html(source.body, charset_label(source.content_type, source.body)))
    return next((url for each in (facts.canonical, facts.base) if each and (url := _absolute(each))), "")


def _absolute(url: str) -> str:
    is_of_web = url.strip().lower().startswith(("http://", "https://"))
    return (normalize(url, Preset.MIRROR) or "") if is_of_web else ""


def _base_url(given: str) -> str:
    base = _absolute(given)
    if given and not base:
        raise UsageError(
            f"{given!r} is not a URL that links can be relative to; give one such as https://docs.example.org/"
        )
    return base


def _with_file_links(markdown: str) -> str:
    def of_file(target: str) -> str | None:
        if not target.startswith(f"{_HERE}/"):
            return None
        new = f"file://{target.removeprefix(_HERE)}"
        return f"<{new}>" if set(new) & set(" ()<>") else new

    return replace_targets(markdown, of_file)


def _read(source: str | bytes | os.PathLike[str], url: str) -> _Source:
    if isinstance(source, bytes):
        return _Source(_bounded(source, "the page"), "text/html", url, f"{Path.cwd()}/")
    if isinstance(source, str) and "<" in source:
        body = source.encode("utf-8", "replace")
        return _Source(_bounded(body, "the page"), "text/html; charset=utf-8", url, f"{Path.cwd()}/")
    path = Path(source)
    try:
        with path.open("rb") as file:
            body = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "not the name of a file"
        raise UsageError(f"{path}: {why.lower()}; give a file, a URL or - for standard input") from error
    content_type = "text/markdown" if path.suffix.lower() in _MARKDOWN_NAMES else "text/html"
    return _Source(_bounded(body, str(path)), content_type, url, str(path.absolute()))


def _bounded(body: bytes, what: str) -> bytes:
    if len(body) > _LARGEST:
        raise NotConverted(f"{what} is longer than {_LARGEST // MIB} MiB, which is no page")
    return body


def _fetched(url: str, settings: dict[str, object]) -> _Source:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        from sumi.jobs.mirror.settings import given_settings

        return fetch_page(given_settings(url, settings))
    raise UsageError(
        "convert() of a URL cannot be called in an event loop; use asyncio.to_thread(sumi.convert, url)"
    )


def fetch_page(settings: "MirrorSettings") -> _Source:
    from sumi.assembly.parts import run_loop
    from sumi.jobs.mirror.fetch_one import FetchedPage, fetch_one

    fetched = run_loop(fetch_one(settings))
    if isinstance(fetched, FetchedPage):
        return _Source(fetched.body, fetched.content_type, fetched.url, fetched.url)
    raise NotConverted(fetched)
