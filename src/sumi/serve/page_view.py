"""One page as it was captured: its Markdown, its original, what is known of it. The content is foreign: it is
sent to the window as JSON strings, or to a frame without any rights, never as a page of our own."""

import re
from contextlib import closing
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, Final

import msgspec

from sumi.catalogue.captures import open_captures
from sumi.catalogue.find import Job, JobKind
from sumi.catalogue.page_files import open_page_files
from sumi.catalogue.pages import split_page
from sumi.errors import SumiError
from sumi.files.blobs import FolderBlobs
from sumi.files.safe_files import SafeFolder
from sumi.model import PageFacts
from sumi.parse.commonmark import render
from sumi.parse.page.raw import unpacked
from sumi.serve.views import View
from sumi.state.folder import CAPTURES

MOST_BYTES: Final = 8 * 1024 * 1024
# Tags that could make a browser ask somebody even where scripts, images and frames are forbidden: their
# names are changed, so that they mean nothing.
_ASKING: Final = re.compile(r"<(/?)(link|meta|base)\b", re.IGNORECASE)
_HEADING: Final = re.compile("<(h[1-6])>")  # those of the Markdown itself have no attributes
_SHARDS: Final = 3  # aa/bb/<sha256>.html.zst
_FRAME: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Captured page</title><style>
:root{color-scheme:light dark;background:Canvas;color:CanvasText}
body{font:16px/1.6 system-ui,sans-serif;max-width:46rem;margin:0 auto;padding:1.5rem;overflow-wrap:anywhere}
pre{overflow:auto;padding:.9rem;border-radius:8px;background:#8881;font:13px/1.5 ui-monospace,monospace}
code{font-family:ui-monospace,monospace;font-size:.9em}table{border-collapse:collapse;display:block;overflow:auto}
td,th{border:1px solid #8884;padding:.35rem .6rem;text-align:left}
a{color:light-dark(#2f4fc9,#9db1ff)}img{max-width:100%}
blockquote{margin:0;padding-left:1rem;border-left:3px solid #8884;color:#888}h1,h2,h3{line-height:1.25}
</style><body>{}</body></html>"""


class PageRecord(msgspec.Struct, frozen=True):
    url: str
    outcome: str
    rule: str
    referrer: str | None
    at: float | None
    depth: int
    facts: PageFacts


def find_record(view: View, url: str) -> PageRecord | None:
    rows = view.rows(
        "SELECT url, outcome, rule, referrer, at, depth, facts FROM url WHERE url = ? LIMIT 1", (url,)
    )
    if not rows:
        return None
    known, outcome, rule, referrer, at, depth, facts = rows[0]
    decoded = msgspec.json.decode(bytes(facts), type=PageFacts) if facts else PageFacts()
    return PageRecord(known, outcome, rule, referrer, at, depth, decoded)


class Text(msgspec.Struct, frozen=True):
    text: str
    cut: bool = False


def markdown_of(job: Job, record: PageRecord) -> Text | None:
    """None if it is not there, or is not what was captured."""
    facts = record.facts
    try:
        data = _capture_text(job, facts) if job.kind is JobKind.CAPTURE else _mirror_text(job, facts)
    except (SumiError, OSError):
        return None
    if data is None or sha256(data).hexdigest() != facts.sha256:
        return None
    return shown_text(data)


def _mirror_text(job: Job, facts: PageFacts) -> bytes | None:
    if job.kind is not JobKind.MIRROR or facts.path is None:
        return None
    with open_page_files(job.root, job.home, job.state) as files:
        data = files.read(facts.path, 4 * MOST_BYTES)
    return None if data is None else split_page(data).data


def _capture_text(job: Job, facts: PageFacts) -> bytes | None:
    with open_captures(job.root / CAPTURES) as captures:
        frame = captures.packed(facts.sha256 or "")
    return None if frame is None else unpacked(frame, 4 * MOST_BYTES)


def original_of(job: Job, record: PageRecord) -> Text | None:
    """The page as it came, decoded."""
    facts = record.facts
    try:
        body = _raw(job, facts)
    except (SumiError, OSError):
        return None
    if body is None or sha256(body).hexdigest() != facts.raw:
        return None
    return shown_text(body, facts.charset or "utf-8")


def file_of(job: Job, record: PageRecord) -> bytes | None:
    """The bytes as they came, to be saved and not shown: what is kept of an image, or of any other file."""
    facts = record.facts
    try:
        body = _asset(job, facts) if facts.asset else _raw(job, facts)
    except (SumiError, OSError):
        return None
    wanted = facts.sha256 if facts.asset else facts.raw
    return body if body is not None and sha256(body).hexdigest() == wanted else None


def _asset(job: Job, facts: PageFacts) -> bytes | None:
    if job.kind is not JobKind.MIRROR or facts.path is None:
        return None
    with closing(SafeFolder(job.root)) as folder:
        return folder.read_bytes(facts.path, 4 * MOST_BYTES)


def _raw(job: Job, facts: PageFacts) -> bytes | None:
    if facts.raw is None:
        return None
    if job.kind is JobKind.CRAWL and facts.path:
        return _archived(job.home, facts)
    if facts.raw_at is None or job.kind is not JobKind.MIRROR:
        return None
    with open_page_files(job.root, job.home, job.state) as files:
        return files.body(facts.raw_at, 4 * MOST_BYTES)


def _archived(home: Path, facts: PageFacts) -> bytes | None:
    root = (home / Path(*(facts.path or "").split("/")[:-_SHARDS])).resolve()
    if not root.is_relative_to(home.resolve()) or not root.is_dir():
        return None
    with closing(SafeFolder(root)) as folder:
        return FolderBlobs(folder, packed=True).open(facts.raw or "", 4 * MOST_BYTES)


def shown_text(data: bytes, charset: str = "utf-8") -> Text:
    cut = len(data) > MOST_BYTES
    try:
        return Text(data[:MOST_BYTES].decode(charset, "replace"), cut)
    except LookupError:
        return Text(data[:MOST_BYTES].decode("utf-8", "replace"), cut)


def rendered(markdown: str) -> str:
    """For a frame without rights: it may hold any HTML."""
    numbers = count()
    body = _HEADING.sub(lambda found: f'<{found[1]} id="sumi-{next(numbers)}">', disarmed(render(markdown)))
    return _FRAME.replace("{}", body)


def disarmed(page: str) -> str:
    return _ASKING.sub(r"<\1sumi-\2", page)


def about(record: PageRecord) -> dict[str, Any]:
    return {
        "url": record.url,
        "outcome": record.outcome,
        "rule": record.rule,
        "referrer": record.referrer,
        "at": record.at,
        "depth": record.depth,
        "facts": msgspec.to_builtins(record.facts),
        "file": record.facts.asset or record.facts.raw is not None,
    }
