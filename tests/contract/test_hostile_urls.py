"""Whatever a URL or a page's own words are made of, every store gives back exactly what it was given."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.model import Candidate, Hop, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy, Preset
from sumi.ports import Judged, Settlement
from sumi.urls import host_key, normalize
from tests.contract.backends import BACKENDS, DURABLE, SERVED, Open, Store
from tests.corpora import hostile_text, hostile_urls

UNPACED = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=1000, slow_factor=0.0))
NOW = 1_000.0


def identities() -> list[str]:
    """As they reach a store: what the gate lets through, and what is stranger than it ever would."""
    known = {normalize(url, preset) for url in hostile_urls.ALL for preset in Preset}
    near = {
        "http://a.test/" + "%25" * 2700,
        "http://a.test/" + "%F0%9F%92%A9" * 600,
        *(f"http://a.test/{'k' * length}" for length in (497, 498, 499, 2690, 2704, 8178)),
        *(f"http://a.test/{'k' * 600}{mark}" for mark in "ab"),
        "http://a.test/\x00",
        "http://a.test/\x00/b",
        "http://a.test/a\r\nb\tc",
        "http://a.test/\u202egpj.exe",
        "http://a.test/\u2028\u2029\x85",
        "http://a.test/e\u0301",
        "http://a.test/\u00e9",
        "http://bücher.test/☃",
        "http://a.test/'; DROP TABLE urls; --",
    }
    return sorted({url for url in known if url is not None} | near)


def without_surrogates(text: str) -> str:
    """As the parser and the URL normalizer leave them: no store ever sees one."""
    return text.encode("utf-8", "replace").decode()


WORDS = [without_surrogates(text) for text in hostile_text.ALL]


async def take_in(store: Store, urls: list[str], words: list[str]) -> None:
    judged = [Judged(Candidate(url, Hop.LINK, referrer=url)) for url in urls]
    assert await store.add(judged) == [True] * len(urls)
    assert await store.add(judged) == [False] * len(urls)
    assert await store.unseen(urls, 0, Hop.LINK) == []
    leases = await store.lease(len(urls), NOW)
    assert sorted(lease.url for lease in leases) == sorted(urls)
    assert all(lease.host == host_key(lease.url) for lease in leases)
    units = [
        Settlement(lease, Verdict(Outcome.CAPTURED, text), NOW, PageFacts(title=text, location=lease.url))
        for lease, text in zip(leases, words, strict=True)
    ]
    assert await store.settle(units) == [True] * len(urls)
    await give_back(store, {unit.lease.url: unit.verdict.rule for unit in units})


async def give_back(store: Store, settled: dict[str, str]) -> None:
    records = {record.url: record async for record in store.records()}
    assert records.keys() == settled.keys()
    for url, text in settled.items():
        record = await store.record(url)
        assert record == records[url]
        assert (record.url, record.referrer, record.facts.location) == (url, url, url)
        assert (record.rule, record.facts.title, record.outcome) == (text, text, Outcome.CAPTURED)


async def round_trip(open_store: Open, folder: Path, settled: dict[str, str], *, durable: bool) -> None:
    store = open_store(folder, UNPACED, NOW)
    await take_in(store, list(settled), list(settled.values()))
    known = {record.url: record.rule async for record in store.records()}
    await store.aclose()
    if durable:
        again = open_store(folder, UNPACED, NOW)
        await give_back(again, known)
        assert not any(await again.add([Judged(Candidate(url)) for url in known]))
        await again.aclose()


@pytest.mark.parametrize("backend", sorted({**BACKENDS, **SERVED}))
def test_hostile_urls_are_known_again(backend: str, tmp_path: Path) -> None:
    urls = identities()
    assert len(urls) > 100
    words = [WORDS[number % len(WORDS)] for number in range(len(urls))]
    settled = dict(zip(urls, words, strict=True))
    durable = backend in {**DURABLE, **SERVED}
    asyncio.run(round_trip({**BACKENDS, **SERVED}[backend], tmp_path, settled, durable=durable))


@pytest.mark.parametrize("backend", sorted(BACKENDS))
@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.text(max_size=40), st.text(max_size=40), min_size=1, max_size=20))
def test_any_text_is_known_again(backend: str, texts: dict[str, str]) -> None:
    settled = {
        f"http://a.test/{without_surrogates(url)}": without_surrogates(text) for url, text in texts.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(round_trip(BACKENDS[backend], Path(folder), settled, durable=backend in DURABLE))
