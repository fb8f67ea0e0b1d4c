"""Identical pages are kept once, and what a site says about the use of a page is kept with it."""

import asyncio
import re
from dataclasses import replace

import pytest

from sumi.engine.contents import ContentIndex
from sumi.engine.visit import Visit
from sumi.model import Candidate, Lease
from sumi.outcomes import Outcome
from sumi.policy import RobotsPolicy
from sumi.workers.pool import InProcessDigester
from tests.engine.one_site import HTML, SITE, counts, crawl, html, notes, path_of, records, world
from tests.engine.world import UNPACED, Answer, World, in_free_time, recipe_for


def twins(url: str, _now: float) -> Answer:
    if path_of(url) == "/":
        return html("Home", "<p>Welcome.</p>", *(f"/copy{name}" for name in "abcdef"), "/other")
    if path_of(url) == "/other":
        return html("Other", "<p>Something else.</p>")
    if path_of(url) == "/only-from-copies":
        return html("Leaf", "<p>Found.</p>")
    return html("Copy", "<p>The same text for everybody.</p>", "/only-from-copies")


@pytest.mark.parametrize("write_seconds", [0.0, 1.0])
def test_of_identical_pages_in_flight_exactly_one_is_kept(write_seconds: float) -> None:
    async def run() -> World:
        recipe = recipe_for([f"{SITE}/"], markdown=True, keep_duplicates=False, pacing=UNPACED)
        made = World(twins, recipe, write_seconds=write_seconds)
        made.io = replace(made.io, digester=InProcessDigester())
        return await made.crawl()

    done = in_free_time(run())
    kept = [url for url in done.output.accepted if "/copy" in url]
    assert len(kept) == 1
    assert counts(done) == {Outcome.CAPTURED: 4, Outcome.DUPLICATE: 5}
    originals = {r.facts.duplicate_of for r in records(done).values() if r.outcome is Outcome.DUPLICATE}
    assert originals == set(kept)
    settled = done.output.settled_urls
    assert next(url for url in settled if "/copy" in url) == kept[0]


def test_who_wants_duplicates_gets_them() -> None:
    done = crawl(twins, keep_duplicates=True)
    assert counts(done) == {Outcome.CAPTURED: 9}


def test_a_duplicate_of_an_earlier_run_is_known() -> None:
    async def story() -> World:
        first = world(lambda url, now: twins(url, now) if path_of(url) in ("/", "/copya") else Answer(404))
        await first.crawl()
        await first.store.requeue([f"{SITE}/copy{n}" for n in "bcdef"], first.clock.now())
        second = world(twins)
        second.store, second.io = first.store, replace(second.io, frontier=first.store, ledger=first.store)
        return await second.crawl()

    done = in_free_time(story())
    assert counts(done)[Outcome.DUPLICATE] == 5


def test_pages_without_text_are_not_copies_of_each_other() -> None:
    def pictures(url: str, _now: float) -> Answer:
        links = [f"<a href='/p{name}'></a>" for name in "abc"] if path_of(url) == "/" else []
        return Answer(200, headers=HTML, text=f"<canvas></canvas>{''.join(links)}")

    assert counts(crawl(pictures)) == {Outcome.CAPTURED: 4}


def test_near_duplicates_are_kept_and_counted() -> None:
    text = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300))

    def versions(url: str, _now: float) -> Answer:
        if path_of(url) == "/":
            return html("Home", "<p>Welcome to all versions of this text.</p>", "/one", "/two", "/three")
        return html("Text", f"<p>{text} {path_of(url).strip('/')}</p>")

    done = crawl(versions)
    assert counts(done) == {Outcome.CAPTURED: 4}
    assert re.search("near-duplicates: [23] pages in 1 group; all were kept", notes(done))


def test_what_a_site_says_about_use_is_kept_with_the_page() -> None:
    robots = "User-agent: *\nAllow: /open\nContent-Signal: search=yes, ai-train=no\n"

    def owned(url: str, _now: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(200, text=robots)
        if path_of(url) == "/":
            return html("Home", "<p>Hello.</p>", "/open")
        license_link = "<a rel=license href='https://creativecommons.org/licenses/by/4.0/'>CC BY</a>"
        return html("Open", license_link, headers=(("content-signal", "ai-input=no"),))

    facts = {path_of(url): r.facts for url, r in records(crawl(owned, robots=RobotsPolicy())).items()}
    assert facts["/"].robots_rule == "no rule applies"
    assert facts["/open"].robots_rule == "Allow: /open"
    assert facts["/open"].content_signal == "search=yes, ai-train=no, ai-input=no"
    assert facts["/open"].licenses == ("https://creativecommons.org/licenses/by/4.0/",)


KEY = "00000000000000ff"


def visit_of(path: str, token: int) -> Visit:
    return Visit(Lease(Candidate(f"{SITE}{path}"), "site.test", token, deadline=300.0))


def test_a_page_waits_for_the_first_with_its_content_and_takes_its_place_if_that_was_not_kept() -> None:
    async def scenario(*, kept: bool) -> str | None:
        index = ContentIndex()
        first, second = visit_of("/x", 1), visit_of("/y", 2)
        assert await index.original_of(KEY, first) is None
        waiting = asyncio.create_task(index.original_of(KEY, second))
        await asyncio.sleep(0)
        assert not waiting.done()
        index.settled(first, kept=kept)
        original = await waiting
        if original is None:
            index.settled(second, kept=True)
            assert await index.original_of(KEY, visit_of("/x", 3)) == f"{SITE}/y"
        return original

    assert asyncio.run(scenario(kept=True)) == f"{SITE}/x"
    assert asyncio.run(scenario(kept=False)) is None
