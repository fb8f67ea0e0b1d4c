"""The generated website is the same in every process, and served as its truth describes it."""

import gzip
import hashlib
import http.client
import os
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.outcomes import Outcome
from tests.site import MakeSite, RobotsPreset, RunningSite, SitemapPreset, running_site, site, small_truth
from tests.site.asking import Hrefs, ask

seeds = st.integers(min_value=0, max_value=10**6)
sizes = st.integers(min_value=1, max_value=150)


@given(seeds, sizes)
def test_a_site_has_as_many_pages_as_asked_for_and_each_can_be_found(seed: int, n: int) -> None:
    truth = site(seed, n)
    assert len(truth.pages) == n
    assert truth.captured_by_both == truth.pages.keys() - truth.disallowed
    assert truth.captured_by_links == {p for p, page in truth.pages.items() if page.linked} - truth.disallowed
    assert (
        truth.captured_by_sitemap == {p for p, page in truth.pages.items() if page.listed} - truth.disallowed
    )


@given(seeds, sizes)
def test_redirects_end_at_pages_and_dead_links_nowhere(seed: int, n: int) -> None:
    truth = site(seed, n)
    for source, target in truth.redirects.items():
        assert source not in truth.pages
        assert truth.redirects.get(target, target) in truth.pages
    assert truth.dead.isdisjoint(truth.pages.keys() | truth.redirects.keys())


@settings(max_examples=10)
@given(seeds, st.integers(min_value=1, max_value=40))
def test_the_links_in_a_body_are_the_links_of_the_truth(seed: int, n: int) -> None:
    truth = site(seed, n)
    for path, page in truth.pages.items():
        hrefs = [href for href in Hrefs(truth.body(path)).found if not href.startswith(("mailto:", "#top"))]
        joined = {urljoin(f"http://x{path}", href.replace("é", "%C3%A9")).partition("#")[0] for href in hrefs}
        assert {url.removeprefix("http://x") for url in joined} == {"/", *page.links}


def test_a_site_of_thirty_pages_has_everything_a_crawl_can_meet() -> None:
    truth = site(1, 30)
    assert set(truth.outcomes_by_links.values()) == {
        "captured",
        "redirected",
        "not_found",
        "robots_denied",
        "out_of_scope",
    }
    assert "unlisted" in truth.outcomes_by_sitemap.values()
    assert truth.captured_by_links - truth.captured_by_sitemap
    assert truth.captured_by_sitemap - truth.captured_by_links
    assert len({path.casefold().rstrip("/") for path in truth.pages}) < len(truth.pages)


def test_outcomes_are_called_what_the_product_calls_them() -> None:
    truth = site(1, 30)
    words = {*truth.outcomes_by_links.values(), *truth.outcomes_by_sitemap.values()}
    assert words <= {outcome.value for outcome in Outcome}


def test_every_process_agrees() -> None:
    program = (
        "import hashlib; from tests.site.truth import site; t = site(7, 60);"
        "content = b''.join(map(t.body, t.pages)) + repr(t.outcomes_by_both).encode();"
        "print(hashlib.sha256(content).hexdigest())"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": hashing, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            check=True,
        ).stdout
        for hashing in ("1", "2")
    }
    truth = site(7, 60)
    content = b"".join(map(truth.body, truth.pages)) + repr(truth.outcomes_by_both).encode()
    assert answers == {hashlib.sha256(content).hexdigest().encode() + b"\n"}


@pytest.mark.parametrize("size", [1_000, 4_096, 40_000, 200_000])
def test_bodies_have_about_the_size_asked_for(size: int) -> None:
    truth = site(3, 12, body_size=size)
    for path in truth.pages:
        assert size * 0.9 < len(truth.body(path)) < size + 5_000


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_pages_are_served_as_the_truth_has_them(small_site: RunningSite, tls: bool) -> None:
    truth = small_site.truth
    for path in truth.pages:
        answer = ask(small_site, path, tls=tls)
        assert (answer.status, hashlib.sha256(answer.body).hexdigest()) == (200, truth.sha256(path))


def test_redirects_and_dead_links_are_served_as_the_truth_has_them(small_site: RunningSite) -> None:
    for source, target in small_site.truth.redirects.items():
        answer = ask(small_site, source)
        assert (answer.status // 100, answer.headers["location"]) == (3, target)
    assert {ask(small_site, path).status for path in small_site.truth.dead} == {404}


def test_a_page_that_is_known_is_not_sent_again(small_site: RunningSite) -> None:
    tag = ask(small_site, "/").headers["etag"]
    answer = ask(small_site, "/", headers={"If-None-Match": tag})
    assert (answer.status, answer.body) == (304, b"")


def _locations(xml: bytes) -> list[str]:
    return [element.text or "" for element in ET.fromstring(xml).iter() if element.tag.endswith("loc")]


def test_the_sitemaps_together_list_what_the_truth_lists(small_site: RunningSite) -> None:
    first, packed, text = (
        ask(small_site, url.removeprefix(small_site.url)).body
        for url in _locations(ask(small_site, "/sitemap.xml").body)
    )
    urls = [*_locations(first), *_locations(gzip.decompress(packed)), *text.decode().split()]
    assert sorted(urls) == sorted(small_site.url + path for path in small_site.truth.listed)


@pytest.mark.parametrize(
    ("robots", "status", "line"),
    [
        (RobotsPreset.DEFAULT, 200, "Disallow: /private/"),
        (RobotsPreset.CRAWL_DELAY, 200, "Crawl-delay: 1"),
        (RobotsPreset.SECTION, 200, "Disallow: /anchor/"),
        (RobotsPreset.DENY, 200, "Disallow: /"),
        (RobotsPreset.NONE, 404, ""),
    ],
)
def test_robots_presets(make_site: MakeSite, robots: RobotsPreset, status: int, line: str) -> None:
    answer = ask(make_site(pages=12, robots=robots), "/robots.txt")
    assert answer.status == status
    assert not line or line in answer.body.decode().splitlines()


def test_robots_may_come_from_a_file(make_site: MakeSite, tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_text("User-agent: odd\nDisallow: /x\n")
    answer = ask(make_site(pages=2, robots=str(tmp_path / "robots.txt")), "/robots.txt")
    assert answer.body == b"User-agent: odd\nDisallow: /x\n"


def test_what_robots_denies_is_denied_in_the_truth(make_site: MakeSite) -> None:
    truth = make_site(pages=40, robots=RobotsPreset.SECTION).truth
    assert not any(path.startswith("/anchor/") for path in truth.captured_by_both)
    assert truth.outcomes_by_links["/anchor/"] == "robots_denied"


def test_a_site_without_sitemaps(make_site: MakeSite) -> None:
    bare = make_site(pages=12, sitemap=SitemapPreset.NONE)
    assert ask(bare, "/sitemap.xml").status == 404
    assert b"Sitemap" not in ask(bare, "/robots.txt").body
    assert bare.truth.outcomes == bare.truth.outcomes_by_links


def test_the_log_has_every_request_as_soon_as_it_is_answered(make_site: MakeSite) -> None:
    running = make_site(pages=2)
    ask(running, "/nowhere?x=1", host="example.test:1", headers={"User-Agent": "tester"})
    ask(running, "/", tls=True)
    first, second = running.requests()
    assert (first.method, first.path, first.host, first.status) == (
        "GET",
        "/nowhere?x=1",
        "example.test:1",
        404,
    )
    assert (first.user_agent, first.tls, second.tls) == ("tester", False, True)
    assert first.connection != second.connection
    assert first.monotonic <= second.monotonic
    assert running.requests_to("/") == [second]
    running.clear_log()
    assert running.requests() == []


def test_one_connection_serves_many_requests(make_site: MakeSite) -> None:
    running = make_site(pages=5)
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
    for path in ("/", "/nowhere", "/robots.txt"):
        connection.request("GET", path)
        connection.getresponse().read()
    connection.request("HEAD", "/")
    assert connection.getresponse().headers["Content-Length"] == str(len(running.truth.body("/")))
    connection.close()
    assert len({request.connection for request in running.requests()}) == 1


def test_a_stopped_site_is_gone() -> None:
    with running_site(pages=1) as running:
        port = running.port
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=20)


def test_numbered_hosts_are_small_sites_of_their_own(small_site: RunningSite) -> None:
    bodies = {ask(small_site, "/", host=f"h{number}.test").body for number in range(20)}
    assert len(bodies) == 20
    assert small_truth(3).body("/") in bodies
    assert len(small_truth(3).captured_by_links) == 5
    assert ask(small_site, "/robots.txt", host="h3.test:8080").status == 404


@pytest.mark.parametrize("status", [401, 403, 404, 410, 429, 500, 503])
def test_robots_hosts_answer_as_they_are_called(small_site: RunningSite, status: int) -> None:
    assert ask(small_site, "/robots.txt", host=f"robots-{status}.test").status == status
    assert ask(small_site, "/", host=f"robots-{status}.test").status == 200


def test_a_broken_index_names_good_parts_beside_bad_ones(make_site: MakeSite) -> None:
    broken = make_site(pages=12, sitemap=SitemapPreset.BROKEN)
    parts = [url.removeprefix(broken.url) for url in _locations(ask(broken, "/sitemap.xml").body)]
    torn = ask(broken, parts[0]).body
    with pytest.raises(ET.ParseError):
        ET.fromstring(torn)
    assert torn.count(b"</url>") == 2
    assert ask(broken, parts[1]).status == 404
    assert set(parts[1:3]) == {path for path, _ in broken.truth.bad_sitemaps}
    assert [ask(broken, part).status for part in parts[3:]] == [200, 200, 200]
