"""Bot checks and error pages with status 200 never pass for content; bot checks in a row hold their host."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from sumi.engine.soft_errors import MAX_FOLDERS, probe_urls
from sumi.outcomes import Outcome
from tests.engine.one_site import HTML, SITE, counts, crawl, html, notes, path_of, records
from tests.engine.world import UNPACED, Answer


def regrets(url: str, _now: float) -> Answer:
    if path_of(url) == "/":
        return html("Home", "<p>Welcome to the site.</p>", "/real", "/gone", "/also-gone", "/about-404")
    if path_of(url) == "/real":
        return html("Real", "<p>A page with something to say about gardens.</p>")
    if path_of(url) == "/about-404":
        return html(
            "404", "<p>How servers say not found: an essay on status codes, their history and uses.</p>"
        )
    return html("Page not found", "<p>Sorry, we looked everywhere but could not find what you asked for.</p>")


def test_what_a_host_shows_for_any_url_is_not_content() -> None:
    done = crawl(regrets)
    known = records(done)
    outcomes = {path_of(url): record.outcome for url, record in known.items()}
    [probe] = map(path_of, probe_urls(f"{SITE}/"))
    assert outcomes == {
        "/": Outcome.CAPTURED,
        "/real": Outcome.CAPTURED,
        "/about-404": Outcome.CAPTURED,
        "/gone": Outcome.SOFT_404,
        "/also-gone": Outcome.SOFT_404,
        probe: Outcome.PROBED,
    }
    assert [e.url for e in done.log].count(SITE + probe) == 1
    assert not any("gone" in url or "probe" in url for url in done.output.accepted)


def test_a_slow_answer_to_the_probe_is_waited_for() -> None:
    def slow(url: str, now: float) -> Answer:
        answer = regrets(url, now)
        return replace(answer, latency=10.0) if "probe" in url else answer

    done = crawl(slow)
    assert counts(done)[Outcome.SOFT_404] == 2


def test_a_host_that_says_404_is_believed_about_its_other_pages() -> None:
    def honest(url: str, now: float) -> Answer:
        return Answer(404, headers=HTML) if "probe" in url else regrets(url, now)

    done = crawl(honest)
    assert counts(done) == {Outcome.CAPTURED: 4, Outcome.DUPLICATE: 1, Outcome.PROBED: 1}


SORRY = "<p>Sorry, we looked everywhere but could not find what you asked for.</p>"


def shop(url: str, _now: float) -> Answer:
    """Under /shop/ answers another program than at the root, and regrets with 200."""
    path = path_of(url)
    if path == "/":
        links = ("/shop/real", "/shop/gone", "/shop/also/gone", "/manual/not-found")
        return html("Home", "<p>Welcome.</p>", *links)
    if path == "/shop/real":
        return html("Nails", "<p>Nails of all sizes, by the kilogram.</p>")
    if path == "/manual/not-found":
        return html("Page not found", "<p>Error 404 is what servers say if they have no such page.</p>")
    return html("Page not found", SORRY) if path.startswith("/shop/") else Answer(404, headers=HTML)


def test_what_a_folder_shows_for_any_url_is_not_content_either() -> None:
    outcomes = {path_of(url): record.outcome for url, record in records(crawl(shop)).items()}
    probes = {path_of(url) for page in ("/shop/real", "/manual/x") for url in probe_urls(SITE + page)}
    assert {path for path, outcome in outcomes.items() if outcome is Outcome.PROBED} == probes
    assert len(probes) == 3
    assert outcomes["/shop/gone"] is outcomes["/shop/also/gone"] is Outcome.SOFT_404
    assert outcomes["/shop/real"] is outcomes["/manual/not-found"] is Outcome.CAPTURED


def test_a_host_of_endless_folders_is_probed_in_a_few_only() -> None:
    def folders(url: str, _now: float) -> Answer:
        if path_of(url) == "/":
            return html("Home", "<p>Welcome.</p>", *(f"/f{number}/x" for number in range(40)))
        word = "".join(chr(97 + int(digit)) * 3 for digit in re.findall(r"\d", path_of(url)))
        missing = html("Page not found", f"<p>Nothing was found here {word}, not on this server.</p>")
        return Answer(404, headers=HTML) if "probe" in url else missing

    done = crawl(folders)
    assert counts(done)[Outcome.PROBED] == MAX_FOLDERS + 1
    assert counts(done)[Outcome.PENDING] == 0


def test_a_probe_that_is_never_answered_delays_no_page() -> None:
    def silent(url: str, now: float) -> Answer:
        return Answer(trouble=Outcome.TIMED_OUT) if "probe" in url else regrets(url, now)

    done = crawl(silent)
    assert counts(done) == {Outcome.CAPTURED: 4, Outcome.DUPLICATE: 1, Outcome.PROBED: 1}


def test_hosts_that_give_no_cause_are_not_probed() -> None:
    def plain(url: str, _now: float) -> Answer:
        return html(path_of(url), f"<p>All about {path_of(url)}.</p>", "/a", "/b")

    done = crawl(plain)
    assert counts(done) == {Outcome.CAPTURED: 3}
    assert not any("probe" in exchange.url for exchange in done.log)


CHECK = "<title>Just a moment...</title><script>window._cf_chl_opt={}</script>"


@pytest.mark.parametrize(
    "check",
    [
        Answer(200, headers=HTML, text=CHECK),
        Answer(403, headers=HTML, text=CHECK),
        Answer(503, headers=HTML, text=CHECK),
        Answer(403, headers=(*HTML, ("cf-mitigated", "challenge")), text="<p>x"),
        Answer(200, headers=(*HTML, ("x-amzn-waf-action", "challenge")), text="<p>x"),
    ],
)
def test_a_bot_check_is_no_content_and_slows_the_crawl_down(check: Answer) -> None:
    def guarded(url: str, _now: float) -> Answer:
        return html("Home", "<p>Welcome.</p>", "/a", "/b", "/c") if path_of(url) == "/" else check

    done = crawl(guarded, concurrency=1)
    assert counts(done) == {Outcome.CAPTURED: 1, Outcome.CHALLENGE: 3}
    assert done.output.accepted == [f"{SITE}/"]
    # One page may be guarded for its own sake. From the second in a row on, the host is held.
    assert done.log[-1].reached - done.log[-2].reached >= 30
    assert "site.test put up a bot check" in notes(done)
    assert len(done.log) == 4  # no page is requested twice


def test_bot_checks_with_good_pages_in_between_cause_no_hold() -> None:
    def guarded(url: str, _now: float) -> Answer:
        if path_of(url) in ("/a", "/c"):
            return Answer(200, headers=HTML, text=CHECK)
        links = ("/a", "/b", "/c", "/d") if path_of(url) == "/" else ()
        return html(f"Page {path_of(url)}", f"<p>All about {path_of(url)}.</p>", *links)

    done = crawl(guarded, concurrency=1)
    assert counts(done) == {Outcome.CAPTURED: 3, Outcome.CHALLENGE: 2}
    assert done.log[-1].reached - done.log[-2].reached < 30


def gaps_between_checks(between: Answer | None = None, **changes: Any) -> list[float]:
    """Seconds between the requests to a host that answers every second page with a bot check, and the others
    with ``between``; every page, if that is None."""

    def guarded(url: str, _now: float) -> Answer:
        if path_of(url) == "/":
            return html("Home", "<p>Welcome.</p>", *(f"/{number}" for number in range(8)))
        is_check = between is None or int(path_of(url)[1:]) % 2 == 0
        return Answer(403, headers=HTML, text=CHECK) if is_check else between or Answer()

    log = crawl(guarded, concurrency=1, **changes).log
    return [round(later.reached - earlier.reached) for earlier, later in pairwise(log)]


def test_each_further_bot_check_doubles_the_pause_up_to_fifteen_minutes() -> None:
    assert gaps_between_checks() == [0, 0, 30, 60, 120, 240, 480, 900]


def test_a_crawl_with_short_backoffs_pauses_as_long_after_bot_checks() -> None:
    pacing = msgspec.structs.replace(UNPACED, rate_limited_hold=0.5, longest_rate_limited_hold=8.0)
    assert gaps_between_checks(pacing=pacing) == [0, 0, 30, 60, 120, 240, 480, 900]


def test_no_pause_after_a_bot_check_is_longer_than_any_pause_may_be() -> None:
    pacing = msgspec.structs.replace(UNPACED, max_hold=100.0)
    assert gaps_between_checks(pacing=pacing) == [0, 0, 30, 60, 100, 100, 100, 100]


def test_an_error_between_two_bot_checks_does_not_end_their_row() -> None:
    """Only a good page shows that the host lets us in again."""
    assert gaps_between_checks(Answer(404)) == [0, 0, 0, 30, 0, 60, 0, 120]
