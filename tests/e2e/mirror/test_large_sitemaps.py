"""A sitemap as large as the standard allows is read whole; a larger or broken one makes a run incomplete."""

import gzip
from pathlib import Path

import pytest

import sumi
from sumi.events import Summary
from sumi.jobs.mirror import recipe as mirror_module
from sumi.jobs.mirror.settings import MirrorSettings
from tests.commands import FinishedSumi, RunSumi
from tests.folder_site import FolderSite, folder_site
from tests.thoroughness import usually

MIB = 1024 * 1024
START, END = "<urlset>", "</urlset>"


def sitemap(site: FolderSite, size: int, pages: int = 3) -> bytes:
    """Exactly ``size`` bytes: the first pages, padding, and the last page."""
    entries = [f"<url><loc>{site.url}page{number}.html</loc></url>" for number in range(pages)]
    for number in range(pages):
        site.write(f"page{number}.html", f"<h1>Page {number}</h1><p>All that is said on page {number}.</p>")
    before, after = START + "".join(entries[:-1]), entries[-1] + END
    return (before + " " * (size - len(before) - len(after)) + after).encode()


def mirror(run_sumi: RunSumi, site: FolderSite) -> FinishedSumi:
    site.write("index.html", "<h1>Start</h1><p>Nothing is linked here.</p>")
    return run_sumi("mirror", site.url, "-o", "out", "--rate-limit", "0", "--retries", "0", "--json")


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_the_largest_sitemap_of_the_standard_is_read_to_its_end(
    run_sumi: RunSumi, tmp_path: Path, packed: bool
) -> None:
    with folder_site(tmp_path / "site") as site:
        body = sitemap(site, 50 * MIB)
        site.write("robots.txt", f"Sitemap: {site.url}list.xml")
        site.put("list.xml", gzip.compress(body, 1) if packed else body)
        finished = mirror(run_sumi, site)
    assert finished.returncode == 0, finished.stderr
    summary = finished.events[-1]
    assert (summary["outcomes"]["captured"], summary["outcomes"]["read"]) == (4, 1)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_larger_one_is_cut_and_the_run_is_not_complete(
    run_sumi: RunSumi, tmp_path: Path, packed: bool
) -> None:
    with folder_site(tmp_path / "site") as site:
        body = sitemap(site, 50 * MIB + 40)  # so that the URL of the last page is cut
        site.write("robots.txt", f"Sitemap: {site.url}list.xml")
        site.put("list.xml", gzip.compress(body, 1) if packed else body)
        finished = mirror(run_sumi, site)
    assert finished.returncode == 1, finished.stderr
    summary = finished.events[-1]
    assert summary["status"] != "complete"
    assert summary["outcomes"]["sitemap_cut"] == 1
    assert summary["outcomes"]["captured"] == 3
    warnings = [event["message"] for event in finished.events if event["event"] == "warning"]
    assert any("list.xml: it was read up to the limit of 52,428,800 bytes" in text for text in warnings)


def test_a_broken_one_is_read_up_to_the_error_and_the_run_is_not_complete(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        body = sitemap(site, MIB)
        site.write("robots.txt", f"Sitemap: {site.url}list.xml")
        site.put("list.xml", body[: MIB // 2])
        finished = mirror(run_sumi, site)
    assert finished.returncode == 1, finished.stderr
    summary = finished.events[-1]
    assert summary["status"] != "complete"
    assert (summary["outcomes"]["sitemap_cut"], summary["outcomes"]["captured"]) == (1, 3)


PARTS, PAGES = 6, 20


def write_index(site: FolderSite) -> None:
    """An index of sitemaps; none of the pages is linked."""
    site.write("index.html", "<p>Welcome.</p>")
    names = [f"part{part}.xml" for part in range(PARTS)]
    index = "".join(f"<sitemap><loc>{site.url}{name}</loc></sitemap>" for name in names)
    site.write("sitemap.xml", f"<sitemapindex>{index}</sitemapindex>")
    for part, name in enumerate(names):
        pages = [f"{part}-{number}.html" for number in range(PAGES)]
        for page in pages:
            site.write(page, f"<p>All that is said on the page called {page}.</p>")
        entries = "".join(f"<url><loc>{site.url}{page}</loc></url>" for page in pages)
        site.write(name, f"<urlset>{entries}</urlset>")


def mirrored(site: FolderSite, output: Path, max_pages: int) -> Summary:
    settings = MirrorSettings(
        url=site.url,
        output=str(output),
        max_pages=max_pages,
        rate_limit=0,
        concurrency=1,
        min_free=0,
        processes=0,
    )
    return sumi.sync.mirror(settings)


def sitemaps_read(site: FolderSite) -> set[str]:
    return {answer.path for answer in site.answers if answer.path.startswith("/part")}


def test_with_a_page_limit_far_more_sitemaps_stay_unread_until_it_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror_module, "PLENTY", 2 * PAGES - 1)
    with folder_site(tmp_path / "site") as site:
        write_index(site)
        first = mirrored(site, tmp_path / "output", 5)
        assert first.outcomes["captured"] == 5
        assert sitemaps_read(site) == {"/part0.xml", "/part1.xml"}
        assert sum(first.outcomes.values()) == first.discovered
        again = mirrored(site, tmp_path / "output", 5)
        assert again.outcomes == first.outcomes
        whole = mirrored(site, tmp_path / "output", 0)
        assert whole.status == "complete"
        assert whole.outcomes["captured"] == 1 + PARTS * PAGES
        assert len(sitemaps_read(site)) == PARTS


def test_a_million_urls_in_sitemaps_of_the_largest_size_are_all_listed(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    """All twenty files in ``make torture``, two of them in ``make test``."""
    files, each = usually(2, 20), 50_000
    with folder_site(tmp_path / "site") as site:
        names = [f"part{part}.xml.gz" for part in range(files)]
        index = "".join(f"<sitemap><loc>{site.url}{name}</loc></sitemap>" for name in names)
        site.write("sitemap.xml", f"<sitemapindex>{index}</sitemapindex>")
        padding = " " * (50 * MIB // each - len(f"<url><loc>{site.url}00/00000.html</loc></url>") - 1)
        for part, name in enumerate(names):
            entries = (
                f"<url><loc>{site.url}{part}/{number}.html</loc></url>{padding}" for number in range(each)
            )
            site.put(name, gzip.compress((START + "".join(entries) + END).encode(), 1))
        finished = run_sumi(
            "sitemap", site.url, "--rate-limit", "0", "--max-pages", "0", "--format", "text", timeout=600
        )
    assert finished.returncode == 0, finished.stderr
    listed = set(finished.stdout.split())
    assert {f"{site.url}{part}/{number}.html" for part in range(files) for number in range(each)} <= listed
    assert len(listed) <= files * each + 1
