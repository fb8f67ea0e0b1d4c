"""The promises of a run's status (docs/concepts/outcomes.md), which is the same wherever it is shown."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import FinishedSumi, RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--processes", "0", "--allow-private", "--retries", "0")
XMLNS = "http://www.sitemaps.org/schemas/sitemap/0.9"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as running:
        yield running


def page(number: object, *links: str) -> str:
    anchors = "".join(f'<p><a href="{link}">on</a></p>' for link in links)
    head = f"<html lang=en><title>T{number}</title><main><h1>T{number}</h1>"
    return f"{head}<p>About {number}.</p>{anchors}</main>"


def write_linked(site: FolderSite, count: int) -> None:
    """A start page with that many links."""
    site.write("index.html", page("start", *(f"/p{n}.html" for n in range(count))))
    for number in range(count):
        site.write(f"p{number}.html", page(number))


def sitemap_of(site: FolderSite, *paths: str) -> str:
    entries = "".join(f"<url><loc>{site.url}{path}</loc></url>" for path in paths)
    return f'<?xml version="1.0"?><urlset xmlns="{XMLNS}">{entries}</urlset>'


def mirrored(
    run_sumi: RunSumi, site: FolderSite, *words: str, path: str = ""
) -> tuple[dict[str, Any], FinishedSumi]:
    """The summary, with which ``sumi status`` and the exit code must agree."""
    done = run_sumi("mirror", f"{site.url}{path}", *FAST, *words, "--json")
    summary = done.events[-1]
    assert done.returncode == {"complete": 0, "limited": 0, "partial": 1}[summary["status"]], done.stderr
    status = json.loads(run_sumi("status", "--json").stdout)
    assert (status["state"], status["left_out"]) == (summary["status"], summary["left_out"])
    return summary, done


def words_of(run_sumi: RunSumi, site: FolderSite, *words: str) -> str:
    said = run_sumi("mirror", site.url, *FAST, *words).stderr
    match = re.search(r"^(complete|limited|partial): .*$", said, re.MULTILINE)
    assert match is not None, said
    return match[0]


def test_complete_means_that_every_page_found_is_stored(run_sumi: RunSumi, site: FolderSite) -> None:
    write_linked(site, 3)
    summary, _ = mirrored(run_sumi, site)
    assert (summary["status"], summary["left_out"], summary["outcomes"]["captured"]) == ("complete", {}, 4)
    assert words_of(run_sumi, site) == "complete: every page found is here"


def test_unlisted_linked_pages_are_counted_if_a_sitemap_decides(run_sumi: RunSumi, site: FolderSite) -> None:
    write_linked(site, 41)
    site.write("sitemap.xml", sitemap_of(site, "", "p0.html", "p1.html", "p2.html"))
    summary, _ = mirrored(run_sumi, site)
    assert (summary["status"], summary["left_out"]) == ("limited", {"unlisted": 38})
    told = "38 pages left out: linked, but in no sitemap or list (--follow-links takes linked pages too)"
    assert words_of(run_sumi, site) == f"limited: {told}"
    assert told in run_sumi("status").stdout
    plan = run_sumi("plan", site.url, *FAST)
    assert "38 linked pages are not in the sitemap: --follow-links takes linked pages too" in plan.stdout
    assert json.loads(run_sumi("plan", site.url, *FAST, "--json").stdout)["unlisted"] == 38
    assert "--follow-links" in run_sumi("sitemap", site.url, *FAST).stderr
    summary, _ = mirrored(run_sumi, site, "--follow-links")
    assert (summary["status"], summary["outcomes"]["captured"]) == ("complete", 42)


@pytest.mark.parametrize(
    ("words", "left_out", "option"),
    [
        (("--max-depth", "0"), {"too_deep": 5}, "--max-depth"),
        (("--max-pages", "2"), {"over_cap": 4}, "--max-pages"),
        (("--max-links", "2"), {"links_dropped": 3}, "--max-links"),
        (("--max-requests-per-host", "4"), {"over_budget": 5}, "--max-requests-per-host"),
    ],
)
def test_pages_over_a_limit_are_counted_with_the_option_that_raises_it(
    run_sumi: RunSumi, site: FolderSite, words: tuple[str, ...], left_out: dict[str, int], option: str
) -> None:
    write_linked(site, 5)
    site.write("robots.txt", "User-agent: *\nSitemap: /none.txt\n" if "budget" in option else "")
    summary, _ = mirrored(run_sumi, site, *words, "--on-error", "skip")
    if option != "--max-requests-per-host":
        assert summary["left_out"] == left_out
    assert set(summary["left_out"]) == set(left_out)
    assert option in words_of(run_sumi, site, *words)


def test_links_that_were_dropped_are_remembered(run_sumi: RunSumi, site: FolderSite) -> None:
    write_linked(site, 5)
    for words in ((), ("--update",)):
        summary, _ = mirrored(run_sumi, site, "--max-links", "2", *words)
        assert (summary["status"], summary["left_out"]) == ("limited", {"links_dropped": 3})


SHELL = "<html><title>App</title><body><div id=app></div><script src=/app.js></script></body></html>"


def test_pages_that_only_scripts_fill_are_never_complete_without_a_word(
    run_sumi: RunSumi, site: FolderSite
) -> None:
    site.write("index.html", page("start", "/app.html", "/b.html"))
    site.write("app.html", SHELL)
    site.write("b.html", page("b"))
    summary, _ = mirrored(run_sumi, site)
    assert (summary["status"], summary["left_out"]) == ("limited", {"unrendered": 1})
    assert any("fidelity 0.000" in note and "--render auto" in note for note in summary["notes"])
    assert words_of(run_sumi, site) == (
        "limited: one page here in part: "
        "filled by JavaScript, and empty without it (--render auto shows them)"
    )


def test_routes_behind_a_fragment_are_told(run_sumi: RunSumi, site: FolderSite) -> None:
    site.write("index.html", page("start", "#/guide", "#/guide", "#/api", "/b.html"))
    site.write("b.html", page("b"))
    summary, _ = mirrored(run_sumi, site)
    assert (summary["status"], summary["left_out"]) == ("limited", {"hash_routes": 1})


def test_a_single_page_without_followed_links_is_suspicious(run_sumi: RunSumi, site: FolderSite) -> None:
    site.write("index.html", page("start", "https://elsewhere.example/"))
    summary, _ = mirrored(run_sumi, site)
    assert (summary["status"], summary["alone"]) == ("limited", True)
    assert words_of(run_sumi, site) == (
        "limited: one page, without a link to another; if there should be more, "
        "try --render auto in case its links need JavaScript, or a URL higher up"
    )


def test_pages_denied_by_robots_txt_are_counted_and_do_not_matter(
    run_sumi: RunSumi, site: FolderSite
) -> None:
    write_linked(site, 3)
    site.write("robots.txt", "User-agent: *\nDisallow: /p1\n")
    summary, _ = mirrored(run_sumi, site)
    assert (summary["status"], summary["outcomes"]["robots_denied"]) == ("complete", 1)
    assert words_of(run_sumi, site) == (
        "complete: every page found is here, except one page that robots.txt disallows"
    )


@pytest.mark.parametrize("robots", ["User-agent: *\nDisallow: /\n", ""])
def test_a_given_url_that_is_no_page_is_never_complete(
    run_sumi: RunSumi, site: FolderSite, robots: str
) -> None:
    site.write("robots.txt", robots)
    summary, _ = mirrored(run_sumi, site, path="none.html")
    assert summary["status"] == "partial"
    outcome = "robots_denied" if robots else "not_found"
    assert summary["amiss"] == [f"{site.url}none.html: {outcome}"]


def test_a_given_url_that_is_gone_is_not_complete(run_sumi: RunSumi, site: FolderSite) -> None:
    write_linked(site, 3)
    (site.folder / "index.html").rename(site.folder / "start.html")
    assert mirrored(run_sumi, site, path="start.html")[0]["status"] == "complete"
    (site.folder / "start.html").unlink()
    summary, _ = mirrored(run_sumi, site, "--update", path="start.html")
    assert summary["status"] == "partial"
    assert summary["amiss"] == [f"{site.url}start.html: gone"]


def test_a_sitemap_that_was_cut_is_a_failure(run_sumi: RunSumi, site: FolderSite) -> None:
    write_linked(site, 3)
    whole = sitemap_of(site, "", "p0.html", "p1.html", "p2.html")
    site.write("sitemap.xml", whole[: whole.index("p2.html")])
    summary, _ = mirrored(run_sumi, site)
    assert (summary["status"], summary["outcomes"]["sitemap_cut"]) == ("partial", 1)
    site.write("sitemap.xml", whole)
    summary, _ = mirrored(run_sumi, site, "--update")
    assert (summary["status"], summary["outcomes"]["captured"] + summary["outcomes"]["unchanged"]) == (
        "complete",
        4,
    )


@pytest.mark.parametrize("job", ["capture", "crawl"])
@pytest.mark.parametrize("there", [False, True])
def test_other_jobs_keep_the_same_promises(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path, job: str, there: bool
) -> None:
    if there:
        site.write("start.html", page("start"))
    start = f"{site.url}start.html"
    if job == "capture":
        done = run_sumi("capture", start, *FAST, "--json")
    else:
        (tmp_path / "workspace").mkdir()
        (tmp_path / "workspace" / "seeds.txt").write_text(f"{start}\n")
        crawl = {
            "user_agent": "testbot/1.0 (+https://example.org/bot)",
            "profile": "generic",
            "scope": {"allowed_hosts": [site.url.split("/")[2]]},
            "limits": {"req_per_sec": 100, "max_retries": 0},
            "network": {"allow_private": True},
        }
        (tmp_path / "crawl.yaml").write_text(yaml.safe_dump(crawl))
        done = run_sumi("crawl", "run", "--config", "crawl.yaml", "--json")
    summary = [event for event in done.events if event["event"] == "summary"][-1]
    assert (done.returncode, summary["status"]) == ((0, "limited") if there else (1, "partial")), done.stderr
    assert summary["alone"] is there
    if job == "crawl":
        assert (
            json.loads(run_sumi("crawl", "status", "--config", "crawl.yaml", "--json").stdout)["state"]
            == (summary["status"])
        )
