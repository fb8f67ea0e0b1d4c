"""A sitemap as large as the standard allows is read whole; with a larger or broken one no run is complete."""

import gzip
from pathlib import Path

import pytest

from tests.commands import FinishedSumi, RunSumi
from tests.folder_site import FolderSite, folder_site

MIB = 1024 * 1024
START, END = "<urlset>", "</urlset>"


def sitemap(site: FolderSite, size: int, pages: int = 3) -> bytes:
    """One of exactly ``size`` bytes: its first pages, much that no one needs, and a last page."""
    entries = [f"<url><loc>{site.url}page{number}.html</loc></url>" for number in range(pages)]
    for number in range(pages):
        site.write(f"page{number}.html", f"<h1>Page {number}</h1><p>All that is said on page {number}.</p>")
    before, after = START + "".join(entries[:-1]), entries[-1] + END
    return (before + " " * (size - len(before) - len(after)) + after).encode()


def listed(run_sumi: RunSumi, site: FolderSite) -> FinishedSumi:
    site.write("index.html", "<h1>Start</h1><p>Nothing is linked here.</p>")
    return run_sumi("mirror", site.url, "-o", "out", "--rate-limit", "0", "--retries", "0", "--json")


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_it_is_read_to_its_end(run_sumi: RunSumi, tmp_path: Path, packed: bool) -> None:
    with folder_site(tmp_path / "site") as site:
        body = sitemap(site, 50 * MIB)
        site.write("robots.txt", f"Sitemap: {site.url}list.xml")
        site.put("list.xml", gzip.compress(body, 1) if packed else body)
        finished = listed(run_sumi, site)
    assert finished.returncode == 0, finished.stderr
    summary = finished.events[-1]
    assert (summary["outcomes"]["captured"], summary["outcomes"]["read"]) == (4, 1)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_beyond_that_it_is_cut_and_the_run_is_not_complete(
    run_sumi: RunSumi, tmp_path: Path, packed: bool
) -> None:
    with folder_site(tmp_path / "site") as site:
        body = sitemap(site, 50 * MIB + 40)  # so that the address of the last page is cut
        site.write("robots.txt", f"Sitemap: {site.url}list.xml")
        site.put("list.xml", gzip.compress(body, 1) if packed else body)
        finished = listed(run_sumi, site)
    assert finished.returncode == 1, finished.stderr
    summary = finished.events[-1]
    assert summary["status"] != "complete"
    assert summary["outcomes"]["sitemap_cut"] == 1
    assert summary["outcomes"]["captured"] == 3
    warnings = [event["message"] for event in finished.events if event["event"] == "warning"]
    assert any("list.xml: it was read up to the limit of 52,428,800 bytes" in told for told in warnings)


def test_a_broken_one_gives_what_stands_before_the_break_and_is_not_complete(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        body = sitemap(site, MIB)
        site.write("robots.txt", f"Sitemap: {site.url}list.xml")
        site.put("list.xml", body[: MIB // 2])
        finished = listed(run_sumi, site)
    assert finished.returncode == 1, finished.stderr
    summary = finished.events[-1]
    assert summary["status"] != "complete"
    assert (summary["outcomes"]["sitemap_cut"], summary["outcomes"]["captured"]) == (1, 3)
