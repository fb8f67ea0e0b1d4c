"""The coverage of quality domains is true, and the same in every output."""

import json
import re
from pathlib import Path

from tests.commands import RunSumi
from tests.e2e.map.map_site import Page, running_web
from tests.jobs.map.map_world import tables

LIMIT = 13  # requests to a domain: robots.txt, then HEAD and GET for six pages


def web_of_every_kind() -> dict[str, Page]:
    moved = Page(status=301, headers=(("Location", "/a"),))
    pages = {
        "good.test/": Page(("/a", "/moved", "/dead", "/file.pdf", "near.test/")),
        "good.test/a": Page(),
        "good.test/moved": moved,
        "good.test/file.pdf": Page(content_type="application/pdf"),
        "near.test/": Page(("near.test/moved",)),
        "near.test/moved": moved,
        "near.test/a": Page(),
        "large.test/": Page(tuple(f"/{n}" for n in range(22))),
        "busy.test/": Page(("/1", "/2")),
        "busy.test/1": Page(status=429),
        "private.test/": Page(("/open", "/closed")),
        "private.test/open": Page(),
        "private.test/robots.txt": Page(body="User-agent: *\nDisallow: /closed", content_type="text/plain"),
        "sick.test/": Page(("/broken",)),
        "sick.test/broken": Page(status=403),
        "bare.test/": Page(status=301, headers=(("Location", "/nothing"),)),
    }
    return pages | {f"large.test/{n}": Page() for n in range(22)}


COVERAGE = {
    "bare.test": "no page: everything requested is a dead link, a redirect or not HTML",
    "busy.test": "1 of 3 pages, it answered 429",
    "good.test": "explored, 2 pages",
    "gone.invalid": "dead: the host name does not exist",
    "large.test": f"6 of 23 pages, limit of {LIMIT} requests reached",
    "private.test": "2 of 3 pages, 1 denied by robots.txt",
    "sick.test": "1 of 2 pages, 1 failed",
}


def test_every_output_has_the_same_coverage(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web(web_of_every_kind(), tmp_path, tls=False) as web:
        quality = {domain: f"{domain}/" for domain in COVERAGE}
        config = str(web.config(tmp_path, quality, max_domain_requests=LIMIT))
        ran = run_sumi("map", config, "--json")
    assert ran.returncode == 1
    told = dict(note.split(": ", 1) for note in ran.events[-1]["notes"] if note.split(":")[0] in COVERAGE)
    assert told == COVERAGE
    text = (tmp_path / "map-summary.md").read_text()
    assert dict(re.findall(r"^- (\S+) \((.*)\)$", text.partition("### Other")[0], re.MULTILINE)) == COVERAGE
    assert "**Coverage:** 1 of 7 quality domains explored" in text
    assert run_sumi("map", config, "--stats").stdout == text
    status = json.loads(run_sumi("status", str(tmp_path / "map.db"), "--json").stdout)
    assert dict(note.split(": ", 1) for note in status["notes"]) == COVERAGE
    shown = run_sumi("status", str(tmp_path / "map.db")).stdout
    for domain, words in COVERAGE.items():
        assert f"{domain}: {words}" in shown


def test_a_map_with_domains_of_one_page_is_not_complete(tmp_path: Path, run_sumi: RunSumi) -> None:
    """In the terminal, the summary file, the status and the events."""
    web = {"one.test/": Page(), "two.test/": Page(), "good.test/": Page(("/a",)), "good.test/a": Page()}
    with running_web(web, tmp_path, tls=False) as sites:
        domains = ("good.test", "one.test", "two.test")
        config = str(sites.config(tmp_path, {domain: f"{domain}/" for domain in domains}))
        shown = run_sumi("map", config)
        again = run_sumi("map", config, "--json").events[-1]
    lone = [f"{domain}: 1 page, without a followed link" for domain in ("one.test", "two.test")]
    assert "limited: a domain of one page, without a link to another" in shown.stdout + shown.stderr
    text = (tmp_path / "map-summary.md").read_text()
    assert "**Coverage:** 1 of 3 quality domains explored" in text
    status = json.loads(run_sumi("status", str(tmp_path / "map.db"), "--json").stdout)
    assert (again["status"], again["alone"], status["state"]) == ("limited", True, "limited")
    for note in lone:
        assert note in shown.stdout + shown.stderr
        assert note in again["notes"]
        assert note in status["notes"]
        assert f"- {note.replace(': ', ' (')})" in text


def test_status_counts_a_map_as_its_run_did(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web(web_of_every_kind(), tmp_path, tls=False) as web:
        quality = {domain: f"{domain}/" for domain in ("large.test", "busy.test")}
        ran = run_sumi("map", str(web.config(tmp_path, quality, max_domain_requests=LIMIT)), "--json")
    summary = ran.events[-1]
    status = json.loads(run_sumi("status", str(tmp_path / "map.db"), "--json").stdout)
    assert (status["state"], summary["status"]) == ("partial", "partial")
    assert status["outcomes"] == summary["outcomes"] == {"captured": 7, "over_budget": 17, "rate_limited": 2}


def test_a_redirect_does_not_count_as_a_crawled_page(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web(web_of_every_kind(), tmp_path, tls=False) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}, max_depth=3))
        run_sumi("map", config)
    text = (tmp_path / "map-summary.md").read_text().splitlines()
    # good.test/ and /a, near.test/ and /a; and a redirect on each
    for line in ("| Pages Crawled | 4 |", "| 0 (Quality) | 2 | 1 |", "- near.test (2 pages, depth 1-3)"):
        assert line in text
    crawled = "SELECT count(*) FROM pages WHERE state = 'Processed' AND status_code < 300"
    assert tables(tmp_path / "map.db", crawled) == [(4,)]


def test_only_a_valid_robots_txt_is_stored(tmp_path: Path, run_sumi: RunSumi) -> None:
    page = "<!DOCTYPE html><title>Oops</title>\nUser-agent: *\nDisallow: /"
    rules = "User-agent: *\nDisallow: /private"
    pages = {
        "plain.test/robots.txt": Page(body=rules, content_type="text/plain"),
        "absent.test/robots.txt": Page(status=404, body="User-agent: *\nCrawl-delay: 500"),
        "page.test/robots.txt": Page(body=page),
    }
    domains = [address.partition("/")[0] for address in pages]
    pages |= {f"{domain}/": Page(("/a",)) for domain in domains} | {f"{d}/a": Page() for d in domains}
    with running_web(pages, tmp_path, tls=False) as web:
        ran = run_sumi("map", str(web.config(tmp_path, {domain: f"{domain}/" for domain in domains})))
    assert ran.returncode == 0
    kept = dict(tables(tmp_path / "map.db", "SELECT domain, robots_txt FROM domain_states"))
    assert kept == {"plain.test": rules, "absent.test": None, "page.test": None}


def test_the_announced_pace_counts_both_requests_of_a_page(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web({"good.test/": Page()}, tmp_path, tls=False) as web:
        config = web.config(tmp_path, {"good.test": "good.test/"}, minimum_time_on_page=1000)
        started = run_sumi("map", str(config), "--json").events[0]
    assert "one request every 1 s per host, 2 for a page: 1,800 pages an hour at most" in started["notes"]
