"""With a page limit, sitemaps that list far more are left unread, and a larger limit takes them up."""

from pathlib import Path

import pytest

import sumi
from sumi.events import Summary
from sumi.jobs.mirror import recipe as mirror_module
from sumi.jobs.mirror.settings import MirrorSettings
from tests.folder_site import FolderSite, folder_site

PARTS, PAGES = 6, 20


def listed(site: FolderSite) -> None:
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


def read(site: FolderSite) -> set[str]:
    return {answer.path for answer in site.answers if answer.path.startswith("/part")}


def test_what_was_left_unread_is_read_when_it_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror_module, "PLENTY", 2 * PAGES - 1)
    with folder_site(tmp_path / "site") as site:
        listed(site)
        first = mirrored(site, tmp_path / "output", 5)
        assert first.outcomes["captured"] == 5
        assert read(site) == {"/part0.xml", "/part1.xml"}
        assert sum(first.outcomes.values()) == first.discovered
        again = mirrored(site, tmp_path / "output", 5)
        assert again.outcomes == first.outcomes
        whole = mirrored(site, tmp_path / "output", 0)
        assert whole.status == "complete"
        assert whole.outcomes["captured"] == 1 + PARTS * PAGES
        assert len(read(site)) == PARTS
