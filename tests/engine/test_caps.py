"""A policy's page types and caps hold exactly, whatever is in flight, across stops and changes."""

from collections import Counter, defaultdict
from dataclasses import replace
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.engine.control import Control
from sumi.errors import StateError
from sumi.events import PageSettled
from sumi.outcomes import Outcome
from sumi.policy import FrontierPolicy, Preset, RobotsPolicy
from sumi.ports import UrlRecord
from sumi.recipe import Recipe
from sumi.scope import build_scope
from sumi.scope.caps import CapPolicy
from sumi.scope.profiles import ProfileName
from sumi.state.memory import MemoryStore
from sumi.urls import normalize
from sumi.workers.pool import InProcessDigester
from tests.engine.world import UNPACED, Answer, AnyStore, Web, World, in_free_time, recipe_for
from tests.site.github import GithubWorld
from tests.site.github_answers import ROBOTS

SITE = "https://github.com"
SEEDS = (f"{SITE}/topics", f"{SITE}/trending")
WORLD = GithubWorld(5, seed=2)
PAGES = {SITE + path: kind for path, kind in WORLD.pages()}


def github(seed: int = 0) -> Web:
    """Every page takes its own while, so that they come in an order of their own."""

    def answer(url: str, _now: float) -> Answer:
        path = url.removeprefix(SITE)
        latency = Random(f"{seed} {url}").random()
        if path == "/robots.txt":
            return Answer(text=ROBOTS, latency=latency)
        page = WORLD.page(path)
        if page is None:
            target = WORLD.redirect(path)
            headers = (("location", SITE + target),) if target else ()
            return Answer(302 if target else 404, headers=headers, latency=latency)
        links = (normalize(link, Preset.CRAWL, url) for link in page.links)
        return Answer(links=tuple(link for link in links if link), latency=latency)

    return answer


def caps(pages: int = 0, issues: int = 0, pulls: int = 0) -> CapPolicy:
    return CapPolicy(ProfileName.GITHUB, pages, (("issues", issues), ("pull", pulls)))


def recipe(policy: CapPolicy, **changes: Any) -> Recipe:
    scope = build_scope(hosts=["github.com"], profile=ProfileName.GITHUB)
    usual: dict[str, Any] = {"pacing": UNPACED, "concurrency": 40, "caps": policy}
    made = recipe_for(SEEDS, **(usual | changes))
    return msgspec.structs.replace(made, scope=scope, preset=Preset.CRAWL)


def repository(url: str) -> str:
    return "/".join(url.removeprefix(SITE).split("/")[1:3]).lower()


def asked_by_repository(urls: list[str]) -> dict[str, Counter[str]]:
    """For each repository: how many different URLs were requested, by the form of their paths and in all."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for url in set(urls):
        parts = url.removeprefix(SITE).split("/")[1:]
        if len(parts) > 1 and parts[0] != "topics":
            counts[repository(url)].update([parts[2] if len(parts) > 2 else "root", "all"])
    return counts


def available(url_kinds: dict[str, str], of: str) -> Counter[str]:
    return Counter(kind for url, kind in url_kinds.items() if repository(url) == of)


async def _records(store: AnyStore) -> dict[str, UrlRecord]:
    return {record.url: record async for record in store.records()}


def crawl(policy: CapPolicy, seed: int = 0, **changes: Any) -> tuple[World, dict[str, UrlRecord]]:
    async def run() -> tuple[World, dict[str, UrlRecord]]:
        world = await World(github(seed), recipe(policy, **changes)).crawl()
        return world, await _records(world.store)

    return in_free_time(run())


def test_without_caps_a_crawl_takes_every_page_of_the_six_types_and_no_other() -> None:
    world, records = crawl(CapPolicy(), robots=RobotsPolicy())
    captured = {url for url, record in records.items() if record.outcome is Outcome.CAPTURED}
    assert captured == set(PAGES)
    asked = {each.url for each in world.log} - {f"{SITE}/robots.txt"}
    assert all(each.startswith(f"{SITE}/") for each in asked)
    # Beyond the pages, only numbers that GitHub itself sends on.
    assert all(WORLD.redirect(url.removeprefix(SITE)) for url in asked - captured)
    owner = next(url for url in records if url.startswith(SITE) and url.count("/") == 3 and url not in PAGES)
    assert records[owner].outcome is Outcome.EXCLUDED
    assert "none of the pages of the github profile" in records[owner].rule


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 12), st.integers(1, 6), st.integers(1, 40))
def test_caps_are_exact_whatever_is_in_flight(seed: int, issues: int, pulls: int, concurrency: int) -> None:
    world, records = crawl(caps(issues=issues, pulls=pulls), seed, concurrency=concurrency)
    for name, counts in asked_by_repository([each.url for each in world.log]).items():
        there = available(PAGES, name)
        # A number that redirects was requested too, as the issue that it seemed to be.
        assert counts["issues"] <= issues
        assert counts["pull"] <= pulls
        assert counts["blob"] == there["blob"]
        if there["issues"] >= issues:
            assert counts["issues"] == issues
    over = [record for record in records.values() if record.outcome is Outcome.OVER_QUOTA]
    assert sum(world.stats.outcomes.values()) == world.stats.known
    for record in over:
        assert record.rule.startswith(f"{repository(record.url)} has its ")


def test_the_cap_on_all_pages_counts_every_type() -> None:
    world, records = crawl(caps(pages=7))
    for counts in asked_by_repository([each.url for each in world.log]).values():
        assert counts["all"] == 7
    assert {
        record.rule.partition(" has its ")[2] for record in records.values() if "has its" in record.rule
    } == {"7 pages"}


async def _stopped_after(pages: int, made: Recipe, store: AnyStore | None) -> tuple[World, list[str]]:
    def kept(policy: FrontierPolicy, now: float) -> AnyStore:
        return store or MemoryStore(policy, now)

    world = World(github(3), made, open_store=kept)
    settled = 0

    def listen(event: object) -> None:
        nonlocal settled
        settled += isinstance(event, PageSettled)
        if 0 < pages == settled:
            world.control.stop("the test")

    world.io = replace(world.io, tell=listen)
    await world.crawl()
    return world, [each.url for each in world.log]


def _over_runs(*runs: tuple[int, CapPolicy]) -> tuple[list[list[str]], dict[str, UrlRecord]]:
    """Several runs of one job, each stopped after so many pages (0: to its end)."""

    async def run() -> tuple[list[list[str]], dict[str, UrlRecord]]:
        store: AnyStore | None = None
        logs = []
        for pages, policy in runs:
            world, log = await _stopped_after(pages, recipe(policy), store)
            store = world.store
            logs.append(log)
        assert store is not None
        return logs, await _records(store)

    return in_free_time(run())


@pytest.mark.parametrize("stop", [5, 20, 45])
def test_a_resumed_crawl_counts_what_was_asked_for_before(stop: int) -> None:
    logs, _ = _over_runs((stop, caps(pages=9, issues=4)), (0, caps(pages=9, issues=4)))
    for counts in asked_by_repository([url for log in logs for url in log]).values():
        assert counts["all"] == 9
        assert counts["issues"] <= 4


def test_raised_caps_bring_back_what_was_refused() -> None:
    logs, records = _over_runs((0, caps(issues=2)), (0, caps(issues=6)))
    assert all(counts["issues"] == 2 for counts in asked_by_repository(logs[0]).values())
    both = asked_by_repository(logs[0] + logs[1])
    assert all(counts["issues"] == 6 for counts in both.values())
    logs, records = _over_runs((0, caps(issues=2)), (0, CapPolicy()))
    assert {url for url, record in records.items() if record.outcome is Outcome.CAPTURED} == set(PAGES)


def test_lowered_caps_drop_what_still_waits_and_keep_what_came() -> None:
    logs, records = _over_runs((30, caps(pages=30)), (0, caps(pages=3)))
    before = asked_by_repository(logs[0])
    for name, counts in asked_by_repository(logs[0] + logs[1]).items():
        assert counts["all"] == max(3, before[name]["all"])
    assert any("has its 3 pages" in record.rule for record in records.values())


def under(*budgets: tuple[str, int]) -> CapPolicy:
    return CapPolicy(ProfileName.GITHUB, under=budgets)


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(0, 25), st.integers(1, 40))
def test_budgets_by_path_are_exact_whatever_is_in_flight(seed: int, most: int, concurrency: int) -> None:
    world, records = crawl(under(("/*/*/issues/*", most), ("/**/blob/**", 5)), seed, concurrency=concurrency)
    asked = {each.url.removeprefix(SITE) for each in world.log}
    issues = {path for path in asked if path.split("/")[3:4] == ["issues"] and path.count("/") == 4}
    assert len(issues) == most
    assert len({path for path in asked if "/blob/" in path}) == 5
    over = {record.rule for record in records.values() if record.outcome is Outcome.OVER_QUOTA}
    assert over == {f"/*/*/issues/* has its {most:,} pages", "/**/blob/** has its 5 pages"}
    assert sum(world.stats.outcomes.values()) == world.stats.known


@pytest.mark.parametrize("stop", [5, 20])
def test_budgets_by_path_hold_over_runs_and_can_be_raised(stop: int) -> None:
    def blobs(logs: list[list[str]]) -> int:
        return len({url for log in logs for url in log if "/blob/" in url})

    logs, _ = _over_runs((stop, under(("/**/blob/**", 4))), (0, under(("/**/blob/**", 4))))
    assert blobs(logs) == 4
    logs, _ = _over_runs((0, under(("/**/blob/**", 4))), (0, under(("/**/blob/**", 7))))
    assert blobs(logs) == 7


def test_query_parameters_that_tell_pages_apart_are_kept_and_all_others_dropped() -> None:
    html = (("content-type", "text/html"),)
    links = "".join(f"<a href='/?page={n}&utm={n}'>{n}</a>" for n in (1, 2)) + "<a href='/next?id=3'>next</a>"

    def web(url: str, _now: float) -> Answer:
        if url == "https://a.test/next":
            return Answer(302, headers=(("location", "/there?x=1&page=7"),))
        return Answer(headers=html, text=f"<main>{links}</main>")

    async def run(keep: tuple[str, ...]) -> set[str]:
        made = recipe_for(["https://a.test/"], pacing=UNPACED, keep_params=keep)
        world = World(web, msgspec.structs.replace(made, preset=Preset.CRAWL))
        world.io = replace(world.io, digester=InProcessDigester())
        return set((await world.crawl()).outcomes)

    assert in_free_time(run(("page",))) == {
        "https://a.test/",
        "https://a.test/?page=1",
        "https://a.test/?page=2",
        "https://a.test/next",
        "https://a.test/there?page=7",
    }
    assert in_free_time(run(())) == {"https://a.test/", "https://a.test/next", "https://a.test/there"}


def test_a_job_cannot_go_on_with_other_parameters() -> None:
    async def run() -> None:
        world = await World(github(), recipe(caps(pages=1))).crawl()
        again = World(
            github(), recipe(caps(pages=1), keep_params=("page",)), open_store=lambda *_: world.store
        )
        again.control = Control()
        await again.crawl()

    with pytest.raises(StateError, match=r"the crawl rules for URLs .* crawl \(keeping page\)"):
        in_free_time(run())
