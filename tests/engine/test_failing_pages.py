"""What failed pages mean for a run: skipped, retried once at the end, or its end; and it does end."""

from itertools import count

from sumi.events import HostWaits, Progress
from sumi.outcomes import Outcome
from sumi.policy import OnError, PacingPolicy, RetryPolicy
from tests.engine.world import Answer, crawled, recipe_for, web_of

SEED = "https://a.test/"
PAGES = tuple(f"https://a.test/{number}" for number in range(5))


def test_passing_failures_get_a_second_chance_after_everything_else() -> None:
    tries = count()

    def web(url: str, _now: float) -> Answer:
        if url == SEED:
            return Answer(links=PAGES)
        return Answer(503 if next(tries) == 0 else 200) if url == PAGES[0] else Answer()

    recipe = recipe_for([SEED], retry=RetryPolicy(retries=0), on_error=OnError.RETRY)
    world = crawled(web, recipe)
    assert world.outcomes[PAGES[0]] == Outcome.CAPTURED
    assert [each.url for each in world.log][-1] == PAGES[0]


def test_what_fails_again_ends_the_second_pass() -> None:
    pages = {SEED: Answer(links=PAGES), PAGES[0]: Answer(503)} | {page: Answer() for page in PAGES[1:]}
    recipe = recipe_for([SEED], retry=RetryPolicy(retries=0), on_error=OnError.RETRY)
    world = crawled(web_of(pages), recipe)
    assert len(world.asked(PAGES[0])) == 2
    assert world.outcomes[PAGES[0]] == Outcome.SERVER_ERROR


def test_a_failed_page_can_end_the_run_with_everything_saved() -> None:
    pages = {SEED: Answer(links=PAGES), PAGES[1]: Answer(404)} | {page: Answer() for page in PAGES[2:]}
    world = crawled(web_of(pages), recipe_for([SEED], on_error=OnError.ABORT, concurrency=1))
    assert world.outcomes[PAGES[0]] == Outcome.NOT_FOUND  # the first to fail
    assert world.stats.pending == 4
    assert sum(world.stats.outcomes.values()) + world.stats.pending == world.stats.known


def test_a_dead_host_does_not_keep_a_run_from_ending() -> None:
    dead = tuple(f"https://dead.test/{number}" for number in range(50))
    pages = {SEED: Answer(links=dead + PAGES)} | {page: Answer() for page in PAGES}
    pages |= {page: Answer(trouble=Outcome.CONNECT_FAILED) for page in dead}
    pacing = PacingPolicy(0.1, 0.1, circuit_failures=5, circuit_hold=60.0, circuit_openings=2)
    world = crawled(web_of(pages), recipe_for([SEED], pacing=pacing, retry=RetryPolicy(retries=0)))
    assert all(world.outcomes[page] == Outcome.CAPTURED for page in PAGES)
    assert len([each for each in world.log if "dead.test" in each.url]) < 12
    assert world.stats.pending > 0
    assert any("dead.test no longer answers" in note for note in world.summary.notes)


def test_pages_that_break_their_server_are_not_held_against_the_host_at_every_try() -> None:
    broken = tuple(f"https://a.test/broken/{number}" for number in range(4))
    pages = {SEED: Answer(links=broken + PAGES)} | {page: Answer() for page in PAGES}
    pages |= {page: Answer(500) for page in broken}
    pacing = PacingPolicy(0.1, 0.1, circuit_failures=5, circuit_hold=900.0)
    world = crawled(web_of(pages), recipe_for([SEED], pacing=pacing, retry=RetryPolicy(retries=3)))
    assert all(len(world.asked(page)) == 4 for page in broken)
    assert world.clock_stopped_at - world.started < 900.0
    assert world.warnings == []


def test_a_host_that_only_fails_is_held_and_that_is_reported_with_the_reason() -> None:
    failing = tuple(f"https://sick.test/{number}" for number in range(8))
    pages = {SEED: Answer(links=failing)} | {page: Answer(500) for page in failing}
    pacing = PacingPolicy(0.1, 0.1, circuit_failures=5, circuit_hold=900.0)
    world = crawled(web_of(pages), recipe_for([SEED], pacing=pacing, retry=RetryPolicy(retries=0)))
    assert world.clock_stopped_at - world.started > 900.0
    [first, *_] = [event for event in world.events if isinstance(event, HostWaits)]
    assert (first.host, first.why) == ("sick.test", "failed for 5 different URLs in a row")
    assert 895.0 < first.until - world.started < 910.0
    told = [event.eta_seconds for event in world.events if isinstance(event, Progress)]
    assert max(eta for eta in told if eta is not None) > 800.0


def test_what_a_run_will_not_do_is_not_counted_as_queued() -> None:
    pages = {SEED: Answer(links=tuple(f"https://a.test/{number}" for number in range(50)))}
    world = crawled(web_of(pages, Answer()), recipe_for([SEED], max_pages=5))
    queued = [event.pending for event in world.events if isinstance(event, Progress)]
    assert max(queued) <= 5
    assert world.stats.pending == 46


def test_what_a_host_beyond_its_budget_has_left_is_not_counted_as_queued() -> None:
    pages = {SEED: Answer(links=tuple(f"https://a.test/{number}" for number in range(50)))}
    pacing = PacingPolicy(1.0, 1.0, host_budget=5)
    others = [f"https://b.test/{number}" for number in range(30)]
    world = crawled(web_of(pages, Answer()), recipe_for([SEED, *others], pacing=pacing))
    last = [event for event in world.events if isinstance(event, Progress)][-1]
    assert world.stats.pending == 46 + 25
    assert (last.pending, last.eta_seconds) in [(0, 0.0), (0, None)]
