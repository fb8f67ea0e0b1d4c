"""A capture reads single-page applications in a real Chromium, as its modes and selectors promise."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.browsers import needs_browser
from tests.commands import FinishedSumi, RunSumi
from tests.e2e.capture.captures import jobs, shown
from tests.site import MakeSite, RunningSite, SitemapPreset
from tests.site.apps import ARTICLES, BATCHES
from tests.thoroughness import usually

pytestmark = needs_browser
FREELY = ("--rate-limit", "0", "--json", "--workers", "4")
SECTIONS = 6


def captured(run_sumi: RunSumi, *words: str) -> FinishedSumi:
    done = run_sumi("capture", *words, *FREELY, timeout=600)  # of a machine that is busy with other things
    assert done.returncode == 0, done.stderr
    return done


def texts(run_sumi: RunSumi, folder: Path) -> dict[str, str]:
    """Texts of the last job by what follows /app/ in their address."""
    (folder / "pages.jsonl").unlink(missing_ok=True)
    done = run_sumi("capture", "export", "--format", "jsonl", "-o", "pages.jsonl")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in (folder / "pages.jsonl").read_text().splitlines()
    ]
    return {row["url"].partition("/app/")[2]: row["content"] for row in rows}


def reasons(run_sumi: RunSumi) -> dict[str, str | None]:
    return {page["url"].partition("/app/")[2]: page["rendered"] for page in shown(run_sumi, "page")}


@pytest.mark.parametrize("mode", usually(["fast", "auto"], ["fast", "balanced", "thorough", "auto"]))
def test_client_side_routes_are_found_and_read(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path, mode: str
) -> None:
    """Links exist only once scripts have run. Fast does not wait for what they fetch, so it is told to."""
    site = make_site(pages=1, sitemap=SitemapPreset.NONE)
    waits = ("--wait-for", "main h1") if mode == "fast" else ()
    captured(run_sumi, f"{site.url}/app/routed", "--render", mode, *waits)
    found = texts(run_sumi, tmp_path)
    for name, article in ARTICLES.items():
        assert any(article.strip() in text for text in found.values()), name
    assert {(why or "").partition(":")[0] for why in reasons(run_sumi).values()} == {mode}


def test_lazy_content_comes_with_scrolling_only(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, sitemap=SitemapPreset.NONE)
    bases = (f"{site.url}/app/lazy", f"{site.url}/app/endless")
    captured(run_sumi, *bases, "--render", "balanced")
    glanced_at = texts(run_sumi, tmp_path)
    assert f"Section {SECTIONS - 1} came." not in glanced_at["lazy"]
    assert "Row 0.0 of" in glanced_at["endless"]
    assert f"Row {BATCHES - 1}.9 of" not in glanced_at["endless"]
    # What another mode made is another page. Scrolling takes as long as it takes, within the page's limit.
    captured(run_sumi, *bases, "--render", "thorough", "--render-timeout", "300")
    scrolled = texts(run_sumi, tmp_path)
    assert all(f"Section {number} came." in scrolled["lazy"] for number in range(SECTIONS))
    assert f"Row {BATCHES - 1}.9 of" in scrolled["endless"]


def test_auto_renders_only_pages_that_are_empty_without_javascript(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, sitemap=SitemapPreset.NONE)
    bases = (f"{site.url}/app/hydrated", f"{site.url}/app/shadow")
    captured(run_sumi, *bases, "--render", "auto")
    assert reasons(run_sumi) == {"hydrated": None, "shadow": "auto: a notice that JavaScript is needed"}
    found = texts(run_sumi, tmp_path)
    assert "Added by hydration." not in found["hydrated"]
    assert "Before. **Slotted in.** After." in found["shadow"]


def test_a_selector_is_waited_for_and_reported_if_missing(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    waits = ("--wait-for", ".late", "--wait-for", ".never", "--render-timeout", "12")
    done = captured(run_sumi, f"{small_site.url}/app/late", "--render", "fast", *waits)
    assert "Better late than never." in texts(run_sumi, tmp_path)["late"]
    assert "nothing matched '.never' on 1 page" in done.events[-1]["notes"]


def test_a_rendered_page_is_rendered_once_while_it_is_fresh(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, sitemap=SitemapPreset.NONE)
    words = (f"{site.url}/app/routed", "--render", "balanced")
    captured(run_sumi, *words)
    first, asked = texts(run_sumi, tmp_path), len(site.requests_to("/app/data/paper"))
    captured(run_sumi, *words)
    assert texts(run_sumi, tmp_path) == first
    levels = {page["url"].partition("/app/")[2]: page["cached"] for page in shown(run_sumi, "page")}
    assert levels["routed/paper"] == "full"
    assert len(site.requests_to("/app/data/paper")) == asked
    captured(run_sumi, *words, "--skip-cache")
    assert len(site.requests_to("/app/data/paper")) == asked + 1


def test_an_invalid_selector_leaves_no_job_behind(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    words = ("--render", "fast", "--wait-for", "main[", *FREELY)
    done = run_sumi("capture", f"{small_site.url}/app/late", *words)
    assert done.returncode == 2
    assert "--wait-for 'main[' is not a CSS selector" in done.stderr
    assert not (tmp_path / "captures").exists()


def test_a_job_that_cannot_be_resumed_stays_unchanged(small_site: RunningSite, run_sumi: RunSumi) -> None:
    captured(run_sumi, f"{small_site.url}/app/late", "--render", "fast")
    before = jobs(run_sumi)
    done = run_sumi("capture", "resume", "--browser", "/nope")
    assert done.returncode == 2
    assert "/nope" in done.stderr
    assert jobs(run_sumi) == before
