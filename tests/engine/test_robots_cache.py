"""robots.txt is requested once, paced like anything else, and an unreachable one blocks no other host."""

import msgspec
import pytest

from sumi.outcomes import Outcome
from sumi.policy import PacingPolicy, Preset, RetryPolicy, RobotsPolicy
from tests.engine.world import HAIR, UNPACED, Answer, Web, crawled, recipe_for, web_of

ROBOTS = "https://a.test/robots.txt"
OBEYED = RobotsPolicy()
DENY_PRIVATE = Answer(text="User-agent: *\nDisallow: /private\n")


def site(count: int, host: str = "a.test") -> list[str]:
    return [f"https://{host}/{n}" for n in range(count)]


def test_it_is_fetched_once_however_many_pages_wait_for_it() -> None:
    recipe = recipe_for(site(60), robots=OBEYED, pacing=UNPACED, concurrency=32)
    world = crawled(lambda _url, _now: Answer(latency=1.0), recipe)
    assert len(world.asked(ROBOTS)) == 1
    assert len(world.log) == 61


@pytest.mark.parametrize(
    "robots",
    [
        Answer(500),
        Answer(503),
        Answer(503, headers=(("retry-after", "3600"),)),
        Answer(429),
        Answer(trouble=Outcome.TIMED_OUT),
    ],
    ids=["500", "503", "503 for an hour", "429", "no answer"],
)
def test_pages_of_a_host_without_one_end_and_other_hosts_go_on(robots: Answer) -> None:
    healthy = site(10, "b.test")
    world = crawled(
        web_of({ROBOTS: robots, "https://b.test/robots.txt": Answer(404)}, Answer()),
        recipe_for([*site(10), *healthy], robots=OBEYED),
    )
    assert len(world.asked(ROBOTS)) == 1 + RetryPolicy().retries
    assert {world.outcomes[url] for url in site(10)} == {"robots_unreachable"}
    assert {world.outcomes[url] for url in healthy} == {"captured"}
    assert max(max(world.asked(url)) for url in healthy) < 15
    assert not any(world.asked(url) for url in site(10))


@pytest.mark.parametrize(
    ("cause", "tries"),
    [
        (Outcome.DNS_FAILED, 4),
        (Outcome.CONNECT_FAILED, 4),
        (Outcome.ADDRESS_REFUSED, 1),
        (Outcome.TLS_FAILED, 1),
    ],
)
def test_pages_of_a_host_that_cannot_be_had_end_by_the_cause(cause: Outcome, tries: int) -> None:
    world = crawled(web_of({}, Answer(trouble=cause)), recipe_for(site(10), robots=OBEYED))
    assert len(world.asked(ROBOTS)) == len(world.log) == tries
    assert set(world.outcomes.values()) == {cause}


def redirecting(hops: int, rules: Answer) -> Web:
    """The robots.txt of a.test is ``hops`` redirects away, each on another host, which is crawled as well."""

    def web(url: str, _now: float) -> Answer:
        if url == ROBOTS:
            return Answer(302, headers=(("location", "https://h1.test/hop"),))
        if url.endswith("/hop"):
            number = int(url.removeprefix("https://h").partition(".")[0])
            if number == hops:
                return rules
            return Answer(302, headers=(("location", f"https://h{number + 1}.test/hop"),))
        return Answer(404) if url.endswith("/robots.txt") else Answer()

    return web


@pytest.mark.parametrize(("hops", "ending"), [(1, "robots_denied"), (5, "robots_denied"), (6, "captured")])
def test_its_redirects_lead_to_other_hosts_at_the_pace_of_those(hops: int, ending: str) -> None:
    others = [url for number in range(1, 7) for url in site(40, f"h{number}.test")]
    recipe = recipe_for(["https://a.test/private", *others], robots=OBEYED)
    world = crawled(redirecting(hops, DENY_PRIVATE), recipe)
    assert world.outcomes["https://a.test/private"] == ending
    assert world.smallest_gap() >= 1 - HAIR
    assert {world.outcomes[url] for url in others} == {"captured"}


def test_a_host_that_answered_for_another_goes_on_after_its_usual_delay() -> None:
    """As where a site's bare name redirects to its ``www.``."""
    there = Answer(301, headers=(("location", "https://www.a.test/robots.txt"),))
    pages = ["https://a.test/0", *site(5, "www.a.test")]
    world = crawled(
        web_of({ROBOTS: there, "https://www.a.test/robots.txt": Answer(404)}, Answer()),
        recipe_for(pages, robots=OBEYED),
    )
    asked = sorted(at for url in (*pages[1:], "https://www.a.test/robots.txt") for at in world.asked(url))
    assert {world.outcomes[url] for url in pages} == {"captured"}
    assert world.smallest_gap() >= 1 - HAIR
    assert asked[-1] - asked[0] < len(asked) + 2


def test_two_hosts_whose_files_lead_to_each_other_are_crawled_all_the_same() -> None:
    hosts = ("a.test", "b.test")
    files = [f"https://{host}/robots.txt" for host in hosts]
    there_and_back = {
        one: Answer(302, headers=(("location", other),))
        for one, other in zip(files, files[::-1], strict=True)
    }
    pages = [url for host in hosts for url in site(3, host)]
    world = crawled(web_of(there_and_back, Answer()), recipe_for(pages, robots=OBEYED))
    assert {world.outcomes[url] for url in pages} == {"captured"}


def test_a_redirect_in_a_circle_counts_as_none() -> None:
    circle = Answer(301, headers=(("location", ROBOTS),))
    world = crawled(web_of({ROBOTS: circle}, Answer()), recipe_for(site(2), robots=OBEYED))
    assert set(world.outcomes.values()) == {"captured"}
    assert len(world.asked(ROBOTS)) == 1


def stricter_later(first: Answer, then: Answer) -> Web:
    def web(url: str, _now: float) -> Answer:
        if url != ROBOTS:
            return Answer()
        asked.append(url)
        return first if len(asked) == 1 else then

    asked: list[str] = []
    return web


def test_a_day_old_one_is_read_again() -> None:
    assert RobotsPolicy().max_age == 24 * 3600
    policy = RobotsPolicy(max_age=600)
    recipe = recipe_for(site(40), robots=policy, pacing=PacingPolicy(delay=30.0))
    world = crawled(stricter_later(Answer(404), Answer(text="User-agent: *\nDisallow: /\n")), recipe)
    assert len(world.asked(ROBOTS)) == 2
    assert 600 <= world.asked(ROBOTS)[1] - world.asked(ROBOTS)[0] < 700
    assert list(world.outcomes.values()).count("robots_denied") > 10


def test_the_old_copy_stands_while_a_new_one_cannot_be_had() -> None:
    pages = [*site(40), "https://a.test/private"]
    recipe = recipe_for(pages, robots=RobotsPolicy(max_age=600), pacing=PacingPolicy(delay=30.0))
    world = crawled(stricter_later(DENY_PRIVATE, Answer(trouble=Outcome.CONNECT_FAILED)), recipe)
    assert len(world.asked(ROBOTS)) > 2
    assert {world.outcomes[url] for url in site(40)} == {"captured"}
    assert world.outcomes["https://a.test/private"] == "robots_denied"


@pytest.mark.parametrize(
    ("header", "again"),
    [("max-age=7200", True), ("public, max-age=5", True), ("max-age=999999999", False), ("no-cache", False)],
)
def test_a_server_may_ask_to_be_read_more_often(header: str, again: bool) -> None:
    recipe = recipe_for(site(30), robots=OBEYED, pacing=PacingPolicy(delay=300.0))
    robots = Answer(404, headers=(("cache-control", header),))
    world = crawled(web_of({ROBOTS: robots}, Answer()), recipe)
    assert (len(world.asked(ROBOTS)) > 1) is again
    assert set(world.outcomes.values()) == {"captured"}


@pytest.mark.parametrize(
    ("sent", "asked"),
    [
        (b"/r\xc3\xa9gles.txt?v=1", "https://a.test/r%C3%A9gles.txt?v=1"),
        (b"/r\xe9gles.txt", "https://a.test/r%C3%A9gles.txt"),
        (b"/r%C3%A9gles/", "https://a.test/r%C3%A9gles/"),
    ],
)
def test_it_is_followed_to_where_the_redirect_means(sent: bytes, asked: str) -> None:
    page = "https://a.test/private"
    moved = Answer(301, headers=(("location", sent.decode("latin-1")),))
    web = web_of({ROBOTS: moved, asked: DENY_PRIVATE}, Answer())
    recipe = recipe_for([page], robots=OBEYED, pacing=UNPACED)
    world = crawled(web, msgspec.structs.replace(recipe, preset=Preset.CRAWL))
    assert world.outcomes[page] == "robots_denied"
    assert len(world.asked(asked)) == 1
