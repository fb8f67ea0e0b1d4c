"""A stored digest is reused for the same request, equals a new one, and is deleted with its page."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sumi.jobs.capture.cache import CachingDigester, DigestCache, PageCache, VaryKeys
from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.rows import CacheLevel, CapturedPage, CaptureJob, JobStatus
from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.raw import packed
from sumi.policy import NetworkPolicy, Preset, RenderMode
from sumi.workers.pool import InProcessDigester

BODY = b"""<html lang=en><title>Ink</title><meta name=description content="Of ink.">
<main><h1>Ink</h1><p>Ground on a stone, see <a href="/stones">stones</a> and <a href="paper?b=2&a=1">
paper</a>.</main>"""
REQUEST = DigestRequest(
    "https://e.org/a/ink", BODY, "text/html", Kind.PAGE, Preset.CAPTURE, markdown=True, raw=True
)


class CountingDigester(InProcessDigester):
    asked = 0

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        self.asked += 1
        return await super().digest(request)


class Setup:
    """A caching digester over a database, and how often it had to parse."""

    def __init__(self, path: Path, *, active: bool = True) -> None:
        self.database = CaptureDatabase(path)
        self.inner = CountingDigester()
        vary_keys = VaryKeys(NetworkPolicy(), self.database.salt, hidden_cookies=False)
        pages = PageCache(self.database, vary_keys, active=active, max_age=None, mode=RenderMode.NONE)
        self.cache = DigestCache(self.database, pages)
        self._digester = CachingDigester(self.inner, self.cache)

    def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        return asyncio.run(self._digester.digest(request))

    def learn(self, request: DigestRequest) -> PageDigest:
        """Digest a page and store it, as a capture does."""
        digest = self.digest(request)
        assert isinstance(digest, PageDigest)
        digested = self.cache.take(request.url)
        assert digested is not None
        assert digested.new is not None
        text = (digest.markdown or "").encode()
        self.database.put_contents([packed(text), (digest.raw_sha256 or "", digest.raw)], [digested.new])
        page = CapturedPage(
            url=request.url,
            address=request.url,
            text_sha256=digest.sha256 or "",
            body_sha256=digest.raw_sha256,
            title=digest.title,
            base=0,
            depth=0,
            status=200,
            content_type=request.content_type,
            etag=None,
            last_modified=None,
            rendered=None,
            fresh_for=None,
            cached=CacheLevel.MISS,
            fetched_at=1.0,
        )
        self.database.put_job(CaptureJob("job", (request.url,), JobStatus.COMPLETED, 1.0, "{}"))
        self.database.put_page("job", page)
        return digest


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[Setup]:
    setup = Setup(tmp_path / "captures.sqlite")
    yield setup
    setup.database.close()


@pytest.mark.parametrize("vocabulary", [False, True])
def test_the_same_request_is_answered_as_before_without_parsing(setup: Setup, vocabulary: bool) -> None:
    request = msgspec.structs.replace(REQUEST, vocabulary=vocabulary)
    first = setup.learn(request)
    again = setup.digest(request)
    assert setup.inner.asked == 1
    assert again == msgspec.structs.replace(first, raw=b"")  # the packed body is in the store already
    known = setup.cache.take(request.url)
    assert known is not None
    assert (known.body_sha256, known.new) == (first.raw_sha256, None)


@pytest.mark.parametrize(
    "change",
    [
        {"url": "https://e.org/b/ink"},
        {"body": BODY + b" "},
        {"content_type": "text/html; charset=koi8-r"},
        {"preset": Preset.MIRROR},
        {"max_links": 1},
        {"keep_params": ("a",)},
        {"vocabulary": True},
    ],
)
def test_another_request_is_another_digest(setup: Setup, change: dict[str, object]) -> None:
    setup.learn(REQUEST)
    other = msgspec.structs.replace(REQUEST, **change)
    answer = setup.digest(other)
    assert setup.inner.asked == 2
    assert answer == asyncio.run(InProcessDigester().digest(other))


def test_another_version_digests_again(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    setup.learn(REQUEST)
    monkeypatch.setattr("sumi.jobs.capture.cache.__version__", "another")
    setup.digest(REQUEST)
    assert setup.inner.asked == 2


def test_a_vocabulary_that_was_not_requested_is_left_out(setup: Setup) -> None:
    setup.learn(msgspec.structs.replace(REQUEST, vocabulary=True))
    answer = setup.digest(REQUEST)
    assert isinstance(answer, PageDigest)
    assert (setup.inner.asked, answer.vocabulary) == (1, b"")


def test_a_digest_is_deleted_with_the_last_page_that_needs_it(setup: Setup) -> None:
    digest = setup.learn(REQUEST)
    setup.database.delete_job("job")
    setup.digest(REQUEST)
    assert setup.inner.asked == 2
    assert not setup.database.has_content(digest.raw_sha256 or "")


def test_a_missing_text_is_made_again(setup: Setup) -> None:
    setup.learn(REQUEST)
    setup.database.put_page(
        "job",
        msgspec.structs.replace(next(setup.database.pages("job")), text_sha256="0" * 64),
    )
    setup.database.delete_job("nothing")  # takes what no page names: the text
    assert isinstance(setup.digest(REQUEST), PageDigest)
    assert setup.inner.asked == 2


def test_skipping_the_cache_uses_nothing_from_it(tmp_path: Path) -> None:
    setup = Setup(tmp_path / "captures.sqlite", active=False)
    setup.learn(REQUEST)
    setup.digest(REQUEST)
    assert setup.inner.asked == 2
    setup.database.close()
