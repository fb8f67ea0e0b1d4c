"""A pause that a host asked for survives a restart; a clock that was set back causes no long wait."""

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from sumi.outcomes import Outcome
from sumi.policy import FrontierPolicy, PacingPolicy, RobotsPolicy
from sumi.recipe import Recipe
from sumi.state.journal import FilesStore
from tests.engine.world import EPOCH, HAIR, Answer, OpenStore, Web, World, in_free_time, recipe_for, web_of

PAGES = [f"https://a.test/{n}" for n in range(6)]
DAY = 86_400.0


def stored_in(folder: Path) -> OpenStore:
    def open_store(policy: FrontierPolicy, now: float) -> FilesStore:
        return FilesStore(folder, policy, now)

    return open_store


def crawled_until(web: Web, recipe: Recipe, requests: int, **options: Any) -> World:
    """A crawl that is stopped after so many requests; pages in flight finish."""

    async def run() -> World:
        world = World(web, recipe, **options)
        ask = world.fetcher.fetch

        async def fetch(request: Any) -> Any:
            answer = await ask(request)
            if len(world.log) == requests:
                world.control.stop()
            return answer

        world.fetcher.fetch = fetch  # type: ignore[method-assign]
        return await world.crawl()

    return in_free_time(run())


def test_a_crawl_delay_holds_for_the_first_request_of_a_resumed_run(tmp_path: Path) -> None:
    web = web_of({"https://a.test/robots.txt": Answer(text="User-agent: *\nCrawl-delay: 20\n")}, Answer())
    recipe = recipe_for(PAGES, robots=RobotsPolicy())
    stored = partial(crawled_until, web, recipe, open_store=stored_in(tmp_path))
    first = stored(3)
    stopped_at = first.clock_stopped_at
    second = stored(0, epoch=stopped_at)
    sent = [each.arrived for each in (*first.log, *second.log)]
    assert len(sent) == 7
    assert min(b - a for a, b in pairwise(sent)) >= 20 - HAIR


def test_a_pause_that_the_host_asked_for_outlives_the_process(tmp_path: Path) -> None:
    busy = Answer(503, headers=(("retry-after", "3600"),))
    recipe = recipe_for(PAGES)
    first = crawled_until(web_of({}, busy), recipe, 1, open_store=stored_in(tmp_path))
    later = first.clock_stopped_at + 600
    second = crawled_until(web_of({}, Answer()), recipe, 0, open_store=stored_in(tmp_path), epoch=later)
    assert 3600 - HAIR <= second.log[0].sent - first.log[0].reached < 3610


def test_a_clock_set_back_by_two_days_costs_at_most_the_longest_pause(tmp_path: Path) -> None:
    web = web_of({}, Answer(503, headers=(("retry-after", str(5 * 3600)),)))
    recipe = recipe_for(PAGES)
    crawled_until(web, recipe, 1, open_store=stored_in(tmp_path))
    second = crawled_until(
        web_of({}, Answer()), recipe, 0, open_store=stored_in(tmp_path), epoch=EPOCH - 2 * DAY
    )
    assert set(second.outcomes.values()) == {"captured"}
    assert second.asked(PAGES[1])[0] <= PacingPolicy().max_hold + 60


def test_a_retry_waits_no_longer_than_meant_when_the_clock_was_set_back(tmp_path: Path) -> None:
    failing = web_of({}, Answer(trouble=Outcome.CONNECT_FAILED))
    recipe = recipe_for(PAGES[:1])
    crawled_until(failing, recipe, 1, open_store=stored_in(tmp_path))
    second = crawled_until(
        web_of({}, Answer()), recipe, 0, open_store=stored_in(tmp_path), epoch=EPOCH - 2 * DAY
    )
    assert second.asked(PAGES[0])[0] < 10


def test_a_robots_file_from_the_future_is_read_again(tmp_path: Path) -> None:
    robots = "https://a.test/robots.txt"
    recipe = recipe_for(PAGES, robots=RobotsPolicy())
    web = web_of({robots: Answer(404)}, Answer())
    crawled_until(web, recipe, 2, open_store=stored_in(tmp_path))
    second = crawled_until(web, recipe, 0, open_store=stored_in(tmp_path), epoch=EPOCH - 2 * DAY)
    assert len(second.asked(robots)) == 1


def test_an_unreachable_robots_txt_is_requested_again_by_the_next_run(tmp_path: Path) -> None:
    robots = "https://a.test/robots.txt"
    recipe = recipe_for(PAGES, robots=RobotsPolicy())
    down = web_of({robots: Answer(500)}, Answer())
    first = crawled_until(down, recipe, 0, open_store=stored_in(tmp_path))
    assert set(first.outcomes.values()) == {"robots_unreachable"}
    up = web_of({robots: Answer(404)}, Answer())
    more = recipe_for([*PAGES, "https://a.test/new"], robots=RobotsPolicy())
    second = crawled_until(up, more, 0, open_store=stored_in(tmp_path), epoch=first.clock_stopped_at + 1)
    assert second.outcomes["https://a.test/new"] == "captured"


def test_the_next_run_has_a_budget_of_its_own(tmp_path: Path) -> None:
    recipe = recipe_for(PAGES, pacing=PacingPolicy(host_budget=4))
    web = web_of({}, Answer())
    first = crawled_until(web, recipe, 0, open_store=stored_in(tmp_path))
    assert first.summary.outcomes == {"captured": 4, "over_budget": 2}
    second = crawled_until(web, recipe, 0, open_store=stored_in(tmp_path))
    assert len(second.log) == 2
    assert second.summary.outcomes == {"captured": 6}
    assert second.summary.status == "complete"
