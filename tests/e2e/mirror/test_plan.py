"""Before a mirror, users can see its pages, its time, its size and its problems."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site
from tests.site import MakeSite

FAST = ("--rate-limit", "0")
XMLNS = "http://www.sitemaps.org/schemas/sitemap/0.9"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        for number in range(30):
            site.write(f"p{number}.html", f"<p>{'Words about the subject. ' * 20}</p>", f"Page {number}")
        urls = "".join(f"<url><loc>{site.url}p{number}.html</loc></url>" for number in range(30))
        site.write("sitemap.xml", f'<?xml version="1.0"?><urlset xmlns="{XMLNS}">{urls}</urlset>')
        site.write("robots.txt", f"User-agent: *\nCrawl-delay: 2\nSitemap: {site.url}sitemap.xml\n")
        yield site


def pages_asked(site: FolderSite) -> set[str]:
    return {answer.path for answer in site.answers if answer.path.endswith(".html")}


def test_listed_pages_in_three_formats_without_fetching_them(
    run_sumi: RunSumi, make_site: MakeSite, tmp_path: Path
) -> None:
    site = make_site(pages=30, seed=5)
    text = run_sumi("sitemap", site.url, *FAST, "--format", "text", "-q")
    assert text.returncode == 0
    listed = text.stdout.split()
    assert set(listed) == set(json_urls(run_sumi, site.url))
    markdown = run_sumi("mirror", site.url, *FAST, "--list-only", "-q").stdout
    assert all(f"<{url}>" in markdown for url in listed)
    asked = {request.path for request in site.requests()}
    assert not any(url.removeprefix(site.url.rstrip("/")) in asked for url in listed)
    assert not (tmp_path / "output").exists()


def json_urls(run_sumi: RunSumi, url: str) -> list[str]:
    listing = json.loads(run_sumi("sitemap", url, *FAST, "--format", "json", "-q").stdout)
    assert all(sitemap["ok"] for sitemap in listing["sitemaps"])
    return [page["url"] for page in listing["pages"]]


def test_the_start_page_is_listed_if_a_sitemap_lists_it(run_sumi: RunSumi, site: FolderSite) -> None:
    start = f"{site.url}p3.html"
    assert start in json_urls(run_sumi, start)
    assert site.url not in json_urls(run_sumi, site.url)


def test_a_site_without_sitemaps_says_so(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", "<p>Only a page.</p>")
        done = run_sumi("sitemap", site.url, *FAST)
    assert done.returncode == 1
    assert "follows links instead" in done.stderr


def test_the_plan_has_counts_rules_sizes_and_an_honest_time(run_sumi: RunSumi, site: FolderSite) -> None:
    site.write("robots.txt", f"User-agent: *\nCrawl-delay: 0.01\nSitemap: {site.url}sitemap.xml\n")
    done = run_sumi("plan", site.url, "--rate-limit", "50", "--sample", "5", "--json")
    assert done.returncode == 0
    plan = json.loads(done.stdout)
    assert plan["pages"] == plan["would_fetch"] == 30
    assert len(plan["sampled"]) == len(pages_asked(site)) == 5
    assert plan["robots"]["crawl_delay"] == 0.01
    assert plan["seconds_between_requests"] == pytest.approx(0.02)
    assert plan["least_seconds"] == pytest.approx(30 * 0.02)
    assert plan["disk_bytes"] >= 30 * 4 * 4096
    assert plan["need_javascript"] == 0


def test_the_page_limit_and_the_sites_own_delay_count(run_sumi: RunSumi, site: FolderSite) -> None:
    site.write("robots.txt", f"User-agent: *\nCrawl-delay: 0.05\nSitemap: {site.url}sitemap.xml\n")
    done = run_sumi("plan", site.url, *FAST, "--sample", "2", "--max-pages", "10")
    assert "30 listed, of which --max-pages takes 10" in done.stdout
    assert "asks for 0.05 s between requests" in done.stdout
    assert "one request every 0.05 s" in done.stdout


def test_pages_that_need_javascript_and_the_generator_are_named(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        shell = '<html><body><div id="root"></div><script src="/_next/static/app.js"></script>'
        (site.folder / "index.html").write_text(shell)
        done = run_sumi("plan", site.url, *FAST, "-q")
    assert "made with   Next.js" in done.stdout
    assert "needed by 1 of 1 pages" in done.stdout
    assert "--render auto" in done.stdout


def test_a_sitemap_can_be_mirrored_by_its_own_url(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    site.write("robots.txt", "User-agent: *\nDisallow:\n")
    done = run_sumi("mirror", f"{site.url}sitemap.xml", *FAST, "--json")
    assert done.events[-1]["outcomes"]["captured"] == 30
