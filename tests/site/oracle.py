"""Does a finished mirror agree with the truth of its site, whatever happened on the way?"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import yaml

from tests.site.log import LoggedRequest
from tests.site.truth import Truth, captured

FAILURES = ("not_found", "parse_failed")
NEVER_ASKED = ("robots_denied", "unlisted", "out_of_scope")


class _Page(msgspec.Struct):
    url: str
    path: str  # relative to the manifest
    size_bytes: int
    fetched_at: str


class _Manifest(msgspec.Struct):
    version: str
    source_url: str
    sitemap_url: str | None
    crawl_started: str
    crawl_completed: str | None
    total_pages: int
    successful: int
    failed: int
    skipped: int
    pages: list[_Page]

    @property
    def origin(self) -> str:
        parts = urlsplit(self.source_url)
        return f"{parts.scheme}://{parts.netloc}"


def check_mirror(
    output_dir: Path,
    truth: Truth,
    requests: Sequence[LoggedRequest],
    *,
    kills: int = 0,
    concurrency: int = 16,
    outcomes: Mapping[str, str] | None = None,
) -> list[str]:
    """Every violation in words; none means that the mirror holds.

    ``outcomes`` is how each URL should have ended: the truth's own default unless the run was told otherwise.
    ``kills`` is how often the run was killed, each of which excuses ``concurrency`` repeated requests.
    """
    expected = truth.outcomes if outcomes is None else outcomes
    found = _read_manifest(output_dir)
    if isinstance(found, str):
        return [found]
    home, manifest = found
    return [
        *_wrong_counts(manifest, expected),
        *_wrong_pages(manifest, captured(expected)),
        *_wrong_files(home, manifest, truth),
        *_stray_files(home, manifest),
        *_needless_requests(requests, expected, kills, concurrency),
    ]


def _read_manifest(output_dir: Path) -> tuple[Path, _Manifest] | str:
    places = [output_dir / "_manifest.json", *sorted(output_dir.glob("*/_manifest.json"))]
    files = [place for place in places if place.is_file()]
    if len(files) != 1:
        return f"{len(files)} manifests in {output_dir}"
    try:
        return files[0].parent, msgspec.json.decode(files[0].read_bytes(), type=_Manifest)
    except msgspec.MsgspecError as error:
        return f"unreadable manifest: {error}"


def _wrong_counts(manifest: _Manifest, expected: Mapping[str, str]) -> Iterator[str]:
    if manifest.crawl_completed is None:
        yield "the manifest says that the crawl is not complete"
    if manifest.successful != len(manifest.pages):
        yield f"successful is {manifest.successful}, but {len(manifest.pages)} pages are named"
    if manifest.total_pages != manifest.successful + manifest.failed + manifest.skipped:
        yield f"total_pages {manifest.total_pages} is not the sum of successful, failed and skipped"
    failures = sum(outcome in FAILURES for outcome in expected.values())
    if manifest.failed != failures:
        yield f"failed is {manifest.failed}, expected {failures}"


def _wrong_pages(manifest: _Manifest, expected: frozenset[str]) -> Iterator[str]:
    urls = Counter(page.url for page in manifest.pages)
    wanted = {manifest.origin + path for path in expected}
    yield from (f"lost: {url}" for url in sorted(wanted - urls.keys()))
    yield from (f"unexpected: {url}" for url in sorted(urls.keys() - wanted))
    yield from (f"recorded {times} times: {url}" for url, times in urls.items() if times > 1)
    paths = Counter(page.path.casefold() for page in manifest.pages)
    yield from (f"{times} pages share the file {path}" for path, times in paths.items() if times > 1)


def _wrong_files(home: Path, manifest: _Manifest, truth: Truth) -> Iterator[str]:
    for page in manifest.pages:
        wrong = _file_fault(home, page, truth, page.url.removeprefix(manifest.origin))
        if wrong:
            yield f"{page.path}: {wrong}"


def _file_fault(home: Path, page: _Page, truth: Truth, path: str) -> str:
    file = home / page.path
    if file.is_symlink() or not file.is_file():
        return "no such file"
    data = file.read_bytes()
    if len(data) != page.size_bytes:
        return f"{len(data)} bytes, recorded {page.size_bytes}"
    true_page = truth.pages.get(path)
    if true_page is None:
        return f"of {page.url}, which the site does not have"
    text = data.decode("utf-8", "replace")
    front = _front_matter(text)
    if front.get("title") != true_page.title:
        return f"title {front.get('title')!r}, expected {true_page.title!r}"
    if front.get("url") != page.url:
        return f"front matter of {front.get('url')!r}"
    whole = f"opens-{true_page.marker}" in text and f"closes-{true_page.marker}" in text
    return "" if whole else "the page's own text is not all there"


def _front_matter(text: str) -> dict[str, object]:
    start, _, rest = text.partition("---\n")
    block, end, _ = rest.partition("\n---\n")
    if start or not end:
        return {}
    try:
        loaded = yaml.safe_load(block)
    except yaml.YAMLError:
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _stray_files(home: Path, manifest: _Manifest) -> Iterator[str]:
    """Files beside the recorded ones; names with ``_`` or ``.`` in front are the mirror's own."""
    recorded = {home / page.path for page in manifest.pages}
    for file in sorted(home.rglob("*")):
        own = file.relative_to(home).parts[0].startswith(("_", ".")) or file.name.startswith(".")
        if file.is_file() and not own and file not in recorded:
            yield f"in no manifest: {file.relative_to(home)}"


def _needless_requests(
    requests: Sequence[LoggedRequest], expected: Mapping[str, str], kills: int, concurrency: int
) -> Iterator[str]:
    forbidden = {url for url, outcome in expected.items() if outcome in NEVER_ASKED}
    yield from sorted({f"asked for {r.path}: {expected[r.path]}" for r in requests if r.path in forbidden})
    # A retry follows a failure on the server's side, so it is the answered requests that must not recur.
    answered = Counter((r.method, r.host, r.path) for r in requests if 0 < r.status < 500 and r.status != 429)
    for (method, _, path), times in answered.items():
        if times > 1 + kills:
            yield f"{method} {path} {times} times with {kills} kills"
    repeated = sum(answered.values()) - len(answered)
    if repeated > kills * concurrency:
        yield f"{repeated} repeated requests, at most {kills * concurrency} excused"
