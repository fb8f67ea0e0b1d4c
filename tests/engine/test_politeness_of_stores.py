"""The rules of ``docs/concepts/politeness.md``, over random webs and all stores."""

import random
import tempfile
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sumi.events import HostWaits
from sumi.model import Candidate, Hop, Kind
from sumi.outcomes import Outcome
from sumi.policy import FollowLinks, FrontierPolicy, PacingPolicy, RetryPolicy, RobotsPolicy
from sumi.recipe import Recipe
from sumi.state.journal import FilesStore
from sumi.state.lmdb import LmdbStore
from sumi.state.memory import MemoryStore
from sumi.state.sqlite import SqliteStore
from sumi.urls import host_key
from tests.engine.world import (
    HAIR,
    Answer,
    AnyStore,
    Exchange,
    OpenStore,
    Web,
    World,
    crawled,
    in_free_time,
    recipe_for,
    web_of,
)
from tests.jobs.map.map_world import MapWorld

SEED = "https://a.test/"
GOOD = tuple(f"https://a.test/{number}" for number in range(20))
STORES: dict[str, Callable[[Path, FrontierPolicy, float], AnyStore]] = {
    "memory": lambda _folder, policy, now: MemoryStore(policy, now),
    "files": lambda folder, policy, now: FilesStore(folder, policy, now),
    "sqlite": lambda folder, policy, now: SqliteStore(folder, policy, now),
    "lmdb": lambda folder, policy, now: LmdbStore(folder, policy, now),
    "map": lambda folder, policy, now: MapWorld({}, ("*.test",), max_depth=9).open(
        folder / "map.db", policy, now
    ),
}
stores = st.sampled_from(sorted(STORES))
seeds = st.integers(0, 2**32)
# What may happen to a page that fails at a try.
FAULTS = (
    Answer(500),
    Answer(503),
    Answer(502, latency=2.0),
    Answer(trouble=Outcome.CONNECTION_LOST),
    Answer(trouble=Outcome.TIMED_OUT, latency=5.0),
)
usual = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def crawl(store: str, web: Web, recipe: Recipe) -> World:
    with tempfile.TemporaryDirectory() as folder:
        open_store = STORES[store]
        return crawled(web, recipe, open_store=lambda p, now: open_store(Path(folder), p, now))


class FaultyWeb:
    """Hosts full of pages: each always answers, always fails, or fails for its first tries."""

    def __init__(self, seed: int, hosts: int, pages: int, share: float) -> None:
        chance = random.Random(seed)
        self.pages = [f"https://h{host}.test/{page}" for host in range(hosts) for page in range(pages)]
        self.failing = {url: chance.choice((1, 2, 10**6)) for url in self.pages if chance.random() < share}
        self._fault = chance.choice
        self.tries: dict[str, int] = defaultdict(int)

    def __call__(self, url: str, _now: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(404)
        self.tries[url] += 1
        return self._fault(FAULTS) if self.tries[url] <= self.failing.get(url, 0) else Answer()

    @property
    def failing_for_ever(self) -> set[str]:
        return {url for url, tries in self.failing.items() if tries > 100}


def in_order(world: World) -> list[str]:
    """URLs in the order of their requests."""
    return [each.url for each in sorted(world.log, key=lambda each: each.sent)]


# ── never asked before retry ─────────────────────────────────────────────────────────────────────────────


@usual
@given(stores, seeds, st.floats(0.1, 0.9), st.integers(1, 3))
def test_a_page_that_was_never_asked_comes_before_any_retry_of_its_host(
    store: str, seed: int, share: float, per_host: int
) -> None:
    web = FaultyWeb(seed, hosts=3, pages=12, share=share)
    pacing = PacingPolicy(1.0, 1.0, per_host, circuit_failures=0)
    world = crawl(store, web, recipe_for(web.pages, pacing=pacing))
    asked: dict[str, set[str]] = defaultdict(set)
    waiting = {host: {url for url in web.pages if host_key(url) == host} for host in map(host_key, web.pages)}
    for url in in_order(world):
        host = host_key(url)
        if url in asked[host]:
            assert asked[host] == waiting[host], f"{url} was asked again too early"
        asked[host].add(url)
    assert sum(world.summary.outcomes.values()) == world.summary.discovered


# ── a page's trouble is its own ──────────────────────────────────────────────────────────────────────────


@usual
@given(stores, seeds, st.floats(0.0, 1.0))
def test_a_page_that_always_fails_ends_within_its_own_tries_whatever_its_neighbours_do(
    store: str, seed: int, share: float
) -> None:
    web = FaultyWeb(seed, hosts=2, pages=14, share=share)
    pacing = PacingPolicy(1.0, 1.0, circuit_hold=100.0)
    world = crawl(store, web, recipe_for(web.pages, pacing=pacing, retry=RetryPolicy(retries=3)))
    for url in web.failing_for_ever:
        given_up = world.outcomes[url] == Outcome.PENDING and web.tries[url] == 0
        assert given_up or (web.tries[url] == 4 and world.outcomes[url] != Outcome.CAPTURED)
    for url, tries in web.tries.items():
        assert tries <= 4
        if url not in web.failing_for_ever:
            assert world.outcomes[url] == Outcome.CAPTURED


@pytest.mark.parametrize("store", sorted(STORES))
@pytest.mark.parametrize("fault", FAULTS[:4], ids=["500", "503", "502", "lost"])
def test_twenty_good_pages_beside_one_that_always_fails_take_the_time_of_twenty(
    store: str, fault: Answer
) -> None:
    bad = "https://a.test/bad"
    web = web_of({bad: fault}, Answer())
    world = crawl(store, web, recipe_for([bad, *GOOD]))
    assert max(max(world.asked(url)) for url in GOOD) < 23 * 1.1 + 2
    assert len(world.asked(bad)) == 4
    assert max(world.asked(bad)) < 60
    assert world.warnings == []


def test_four_links_whose_connection_is_reset_cause_no_hold() -> None:
    resets = [f"https://a.test/reset/{number}" for number in range(4)]
    web = web_of(dict.fromkeys(resets, Answer(trouble=Outcome.CONNECTION_LOST)), Answer())
    world = crawled(web, recipe_for([*resets, *GOOD]))
    assert max(map(max, world.gaps().values())) < 10
    assert {world.outcomes[url] for url in resets} == {Outcome.CONNECTION_LOST}


def test_a_page_that_is_found_later_does_not_wait_for_urls_that_failed_many_times() -> None:
    resets, late = [f"https://a.test/reset/{number}" for number in range(4)], "https://a.test/late"
    web = web_of(
        dict.fromkeys(resets, Answer(trouble=Outcome.CONNECTION_LOST))
        | {"https://b.test/slow": Answer(links=(late,), latency=30.0), late: Answer()}
    )
    world = crawled(web, recipe_for([*resets, "https://b.test/slow"]))
    assert sum(len(world.asked(url)) for url in resets) == 16
    assert max(world.asked(late)) < 35


def test_a_dropped_connection_is_never_asked_again_at_once() -> None:
    lost = Answer(trouble=Outcome.CONNECTION_LOST)
    for head_first in (False, True):
        pacing = PacingPolicy(0.0, 0.0, per_host=4)
        retry = RetryPolicy(3, 5.0, steady=True)
        recipe = recipe_for([SEED], pacing=pacing, retry=retry, head_first=head_first)
        world = crawled(web_of({}, lost), recipe)
        assert len(world.log) == 4 + head_first
        assert world.smallest_gap() >= 5.0 - HAIR


# ── when a host is held ──────────────────────────────────────────────────────────────────────────────────


@usual
@given(stores, seeds, st.floats(0.0, 1.0), st.integers(2, 10))
def test_a_host_is_held_by_us_only_after_different_urls_failed_in_a_row(
    store: str, seed: int, share: float, limit: int
) -> None:
    web = FaultyWeb(seed, hosts=2, pages=14, share=share)
    pacing = PacingPolicy(1.0, 1.0, circuit_failures=limit, circuit_hold=100.0)
    world = crawl(store, web, recipe_for(web.pages, pacing=pacing))
    for host, log in by_host(world).items():
        in_a_row: set[str] = set()
        for before, after in pairwise(log):
            in_a_row = set() if went_well(web, before, log) else in_a_row | {before.url}
            if after.sent - before.reached > 90:
                assert len(in_a_row) >= limit, f"{host} was held after {in_a_row}"
                asked = {each.url for each in log if each.sent <= before.sent}
                unasked = {url for url in web.pages if host_key(url) == host} - asked
                assert unasked, f"{host} was held for pages that failed before"


def by_host(world: World) -> dict[str, list[Exchange]]:
    logs: dict[str, list[Exchange]] = defaultdict(list)
    for each in sorted(world.log, key=lambda each: each.sent):
        logs[host_key(each.url)].append(each)
    return logs


def went_well(web: FaultyWeb, exchange: Exchange, log: list[Exchange]) -> bool:
    tries = [each for each in log if each.url == exchange.url].index(exchange) + 1
    return tries > web.failing.get(exchange.url, 0)


@usual
@given(
    stores,
    st.lists(st.tuples(st.integers(0, 19), st.sampled_from((429, 503)), st.integers(0, 300)), max_size=4),
)
def test_a_pause_that_a_server_asks_for_is_kept_to_the_second(
    store: str, wishes: list[tuple[int, int, int]]
) -> None:
    asks = {GOOD[number]: (status, seconds) for number, status, seconds in wishes}
    asked: set[str] = set()
    until = 0.0

    def web(url: str, now: float) -> Answer:
        nonlocal until
        assert now >= until - HAIR, f"{url} was asked {until - now} s before the pause was over"
        if url in asked or url not in asks:
            return Answer()
        asked.add(url)
        status, seconds = asks[url]
        until = max(until, now + 0.05 + seconds)
        return Answer(status, headers=(("retry-after", str(seconds)),))

    world = crawl(store, web, recipe_for(GOOD))
    assert set(world.outcomes.values()) == {Outcome.CAPTURED}
    longest = sum(seconds for _, seconds in asks.values())
    assert world.clock_stopped_at - world.started < longest + 2 * (len(GOOD) + len(asks)) + 10


@pytest.mark.parametrize("store", ["files", "sqlite", "lmdb"])
@pytest.mark.parametrize(
    ("answer", "least"), [(Answer(429, headers=(("retry-after", "600"),)), 600.0), (Answer(500), 1.0)]
)
def test_a_pause_that_a_server_asked_for_is_kept_over_a_restart_and_ours_is_not(
    store: str, answer: Answer, least: float, tmp_path: Path
) -> None:
    recipe = recipe_for(GOOD, pacing=PacingPolicy(1.0, 1.0, circuit_failures=1))

    def open_store(policy: FrontierPolicy, now: float) -> AnyStore:
        return STORES[store](tmp_path, policy, now)

    first = in_free_time(stopped_after_one(web_of({}, answer), recipe, open_store))
    again = crawled(web_of({}, Answer()), recipe, open_store=open_store, epoch=first.clock_stopped_at)
    assert least - HAIR <= again.log[0].sent - first.log[-1].reached < least + 5


async def stopped_after_one(web: Web, recipe: Recipe, open_store: OpenStore) -> World:
    def last(url: str, now: float) -> Answer:
        world.control.stop("enough")
        return web(url, now)

    world = World(last, recipe, open_store=open_store)
    return await world.crawl()


# ── no host waits for another ────────────────────────────────────────────────────────────────────────────


def with_sitemaps(seeds: tuple[str, ...], **changes: Any) -> Recipe:
    return recipe_for(
        seeds,
        robots=RobotsPolicy(),
        find_sitemaps=True,
        follow_links=FollowLinks.UNLESS_SITEMAP,
        **changes,
    )


def robots(text: str) -> Answer:
    return Answer(text=text)


TROUBLES = {
    "a slow pace": {"https://b.test/robots.txt": robots("User-agent: *\nCrawl-delay: 200\n")},
    "a sitemap that asks for a pause": {
        "https://b.test/robots.txt": robots("Sitemap: https://b.test/s.xml\n"),
        "https://b.test/s.xml": Answer(503, headers=(("retry-after", "1000"),)),
    },
    "a sitemap that always fails": {
        "https://b.test/robots.txt": robots("Sitemap: https://b.test/s.xml\n"),
        "https://b.test/s.xml": Answer(500),
    },
    "very many sitemaps": {
        "https://b.test/robots.txt": robots(
            "".join(f"Sitemap: https://b.test/{number}.xml\n" for number in range(100))
        )
    },
    "very many sitemaps of ours": {
        "https://b.test/robots.txt": robots(
            "".join(f"Sitemap: https://a.test/{number}.xml\n" for number in range(100))
        )
    },
    "sitemaps of ours there": {
        "https://a.test/robots.txt": robots("Sitemap: https://b.test/s.xml\n"),
        "https://b.test/robots.txt": robots("User-agent: *\nCrawl-delay: 200\n"),
    },
    "a robots.txt that asks for a pause": {
        "https://b.test/robots.txt": Answer(503, headers=(("retry-after", "1000"),))
    },
    "a host that does not answer": {
        "https://b.test/robots.txt": Answer(trouble=Outcome.TIMED_OUT, latency=30.0)
    },
}


seconds = st.integers(1, 90)
# What a host in trouble may answer, to any request.
troubled_answers = st.one_of(
    st.sampled_from((Answer(), Answer(404), Answer(403), Answer(429), *FAULTS)),
    st.builds(
        lambda status, pause: Answer(status, headers=(("retry-after", str(pause)),)),
        st.sampled_from((429, 503)),
        seconds,
    ),
    st.builds(lambda latency: Answer(trouble=Outcome.TIMED_OUT, latency=latency), st.floats(0.0, 60.0)),
    st.builds(lambda latency: Answer(latency=latency), st.floats(0.0, 60.0)),
)
troubled_robots = st.one_of(
    troubled_answers,
    st.builds(lambda delay: robots(f"User-agent: *\nCrawl-delay: {delay}\n"), seconds),
    st.builds(
        lambda host, many: robots("".join(f"Sitemap: https://{host}.test/{n}.xml\n" for n in range(many))),
        st.sampled_from("ab"),
        st.integers(1, 4),
    ),
)


@usual
@given(
    st.sampled_from(sorted(set(STORES) - {"map"})),
    troubled_robots,
    troubled_answers,
    st.lists(troubled_answers, min_size=1, max_size=4),
)
def test_whatever_trouble_one_host_has_delays_no_other(
    store: str, robots_txt: Answer, sitemap: Answer, answers: list[Answer]
) -> None:
    theirs = {f"https://b.test/{number}": answer for number, answer in enumerate(answers)}
    theirs |= {f"https://b.test/{number}.xml": sitemap for number in range(4)}
    theirs |= {"https://b.test/robots.txt": robots_txt, "https://b.test/sitemap.xml": sitemap}
    ours = dict.fromkeys(GOOD, Answer()) | {"https://a.test/robots.txt": Answer(404)}
    pages = tuple(f"https://b.test/{number}" for number in range(len(answers)))
    world = crawl(store, web_of(ours | theirs), with_sitemaps((*GOOD, *pages)))
    assert max(max(world.asked(url)) for url in GOOD) < 35


@pytest.mark.parametrize("store", sorted(set(STORES) - {"map"}))
@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=list(TROUBLES))
def test_one_host_delays_no_other(store: str, trouble: dict[str, Answer]) -> None:
    others = tuple(f"https://b.test/{number}" for number in range(3))
    quiet = {f"https://{host}.test/robots.txt": Answer(404) for host in "ac"}
    pages = dict.fromkeys((*GOOD, *others), Answer())
    recipe = with_sitemaps((*GOOD, *others))
    world = crawl(store, web_of(quiet | pages | trouble), recipe)
    assert max(max(world.asked(url)) for url in GOOD) < 35
    assert all(world.outcomes[url] == Outcome.CAPTURED for url in GOOD)


def test_a_sitemap_decides_about_the_links_of_its_own_host_only() -> None:
    pages = {
        "https://a.test/robots.txt": robots("Sitemap: https://a.test/s.xml\n"),
        "https://a.test/s.xml": Answer(links=("https://a.test/listed",)),
        "https://a.test/": Answer(links=("https://a.test/unlisted", "https://b.test/")),
        "https://a.test/listed": Answer(),
        "https://b.test/robots.txt": Answer(404),
        "https://b.test/": Answer(links=("https://b.test/linked",)),
        "https://b.test/linked": Answer(),
    }
    world = crawled(web_of(pages), with_sitemaps((SEED, "https://b.test/")))
    assert world.outcomes["https://a.test/unlisted"] == Outcome.UNLISTED
    assert world.outcomes["https://b.test/linked"] == Outcome.CAPTURED


# ── two rates ────────────────────────────────────────────────────────────────────────────────────────────


@usual
@given(stores, seeds, st.sampled_from((0.1, 0.25, 1.0, 3.0)), st.sampled_from((0.1, 1.0, 3.0)))
def test_with_two_rates_every_gap_is_at_least_the_one_that_applies(
    store: str, seed: int, page_delay: float, sitemap_delay: float
) -> None:
    chance = random.Random(seed)
    sitemaps = tuple(f"https://a.test/{number}.xml" for number in range(4))
    pages = {"https://a.test/robots.txt": robots("".join(f"Sitemap: {url}\n" for url in sitemaps[:2]))}
    pages |= dict.fromkeys(GOOD[:8], Answer())
    pages |= {url: Answer(chance.choice((200, 404, 500))) for url in sitemaps}
    seeds = (*map(Candidate, GOOD[:8]), Candidate(sitemaps[2], Hop.SEED, Kind.SITEMAP))
    recipe = with_sitemaps((), pacing=PacingPolicy(page_delay, sitemap_delay, slow_factor=0.0))
    world = crawl(store, web_of(pages), msgspec.structs.replace(recipe, seeds=seeds))
    log = sorted(world.log, key=lambda each: each.sent)
    assert len(log) > 9
    for before, after in pairwise(log):
        both = (before.url, after.url)
        least = max(page_delay if url in GOOD else sitemap_delay for url in both)
        assert after.sent - before.reached >= least - HAIR, both


# ── every long wait is told ──────────────────────────────────────────────────────────────────────────────


@usual
@given(seeds, st.floats(0.0, 0.6), st.lists(st.integers(1, 200), max_size=3))
def test_every_wait_of_more_than_ten_seconds_is_reported_with_host_reason_and_end(
    seed: int, share: float, pauses: list[int]
) -> None:
    faulty = FaultyWeb(seed, hosts=3, pages=8, share=share)
    wishes = dict(zip(faulty.pages, pauses, strict=False))

    def web(url: str, now: float) -> Answer:
        if url in wishes:
            return Answer(429, headers=(("retry-after", str(wishes.pop(url))),))
        return faulty(url, now)

    pacing = PacingPolicy(1.0, 1.0, circuit_failures=4, circuit_hold=60.0)
    world = crawled(web, recipe_for(faulty.pages, pacing=pacing, retry=RetryPolicy(3, 4.0, 60.0)))
    told = [event for event in world.events if isinstance(event, HostWaits)]
    for host, log in by_host(world).items():
        for before, after in pairwise(log):
            if after.sent - before.reached > 11:
                ends = [event.until for event in told if event.host == host]
                assert any(before.sent < end <= after.sent + 2 for end in ends), (host, after.url)
    assert all("asked for a pause" not in event.why or "429" in event.why for event in told)


@pytest.mark.parametrize("others", [(), GOOD], ids=["alone", "beside another host"])
@pytest.mark.parametrize("crawl_delay", [11, 200])
def test_a_long_crawl_delay_is_reported_once_when_it_begins(
    crawl_delay: int, others: tuple[str, ...]
) -> None:
    pages = tuple(f"https://b.test/{number}" for number in range(5))
    web = web_of(
        {
            "https://a.test/robots.txt": Answer(404),
            "https://b.test/robots.txt": robots(f"User-agent: *\nCrawl-delay: {crawl_delay}\n"),
        },
        Answer(),
    )
    world = crawled(web, recipe_for((*others, *pages), robots=RobotsPolicy()))
    [told] = [event for event in world.events if isinstance(event, HostWaits)]
    assert (told.host, told.why) == ("b.test", "is requested at its own pace")
    ends = sorted(each.sent for each in by_host(world)["b.test"])
    assert min(abs(told.until - end) for end in ends[:3]) < 1.0


def test_a_low_rate_limit_is_reported_once() -> None:
    world = crawled(web_of({}, Answer()), recipe_for(GOOD[:4], pacing=PacingPolicy(20.0, 20.0)))
    [told] = [event for event in world.events if isinstance(event, HostWaits)]
    assert told.until - world.started <= min(map(min, map(world.asked, GOOD[:4]))) + HAIR
