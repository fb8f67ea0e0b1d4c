"""`sumi mirror --render` reads single-page applications in a real Chromium, as its modes promise."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browsers import needs_browser
from tests.commands import FinishedSumi, RunSumi
from tests.site import MakeSite, RunningSite, SitemapPreset
from tests.site.apps import ARTICLES, BATCHES, SLOW_TEXT

pytestmark = needs_browser
QUICK = ("--rate-limit", "0", "--json", "--retries", "0", "--follow-links")


def pages(run: FinishedSumi) -> dict[str, dict[str, Any]]:
    """By what follows /app/ in their address, without sitemaps and the like."""
    found = (event for event in run.events if event["event"] == "page" and "/app/" in event["url"])
    return {event["url"].partition("/app/")[2]: event for event in found}


def text_of(folder: Path, event: dict[str, Any]) -> str:
    assert event["outcome"] == "captured", event["rule"]
    return Path(folder, "output", event["path"]).read_text()


def notes_of(run: FinishedSumi) -> str:
    assert run.events, run.stderr
    return "\n".join(run.events[-1]["notes"])


def test_thorough_reads_every_kind_of_application(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=3, sitemap=SitemapPreset.NONE)
    run = run_sumi("mirror", f"{site.url}/app/", *QUICK, "--render", "thorough")
    found = pages(run)
    for name, article in ARTICLES.items():  # client-side routing: links exist only once scripts have run
        assert article.strip() in text_of(tmp_path, found[f"routed/{name}"])
    assert "Added by hydration." in text_of(tmp_path, found["hydrated"])
    lazy = text_of(tmp_path, found["lazy"])
    assert all(f"Section {n} came." in lazy for n in range(6))
    rows = text_of(tmp_path, found["endless"])
    assert all(f"Row {batch}.{n} of" in rows for batch in range(BATCHES) for n in range(10))
    shadow = text_of(tmp_path, found["shadow"])
    assert "## In the shadow" in shadow
    assert "Before. **Slotted in.** After." in shadow
    assert "enable JavaScript" not in "".join((lazy, rows, shadow))
    assert f"rendered in a browser: {len(found)} pages (thorough)" in notes_of(run)
    # Each page is asked for once, and a script that may be kept once for all of them.
    asked = [request.path for request in site.requests()]
    assert all(asked.count(f"/app/{path}") == 1 for path in found)
    assert asked.count("/app/router") <= 2  # two tabs may have wanted it at the same time


def test_scrolling_waits_for_a_slow_answer_that_it_caused(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    limit = ("--render-timeout", "60")  # a busy machine may take long
    run = run_sumi("mirror", f"{small_site.url}/app/answered-late", *QUICK, "--render", "thorough", *limit)
    text = text_of(tmp_path, pages(run)["answered-late"])
    assert "The beginning." in text
    assert SLOW_TEXT in text


def test_auto_renders_only_what_says_nothing_and_says_why(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=3, sitemap=SitemapPreset.NONE)
    run = run_sumi("mirror", f"{site.url}/app/", *QUICK, "--render", "auto")
    found = pages(run)
    assert ARTICLES["paper"].strip() in text_of(tmp_path, found["routed/paper"])
    assert "Added by hydration." not in text_of(tmp_path, found["hydrated"])
    notes = notes_of(run)
    assert "(auto: an empty container #root)" in notes
    assert "rendered in a browser: 2 pages (auto: a notice that JavaScript is needed)" in notes
    # The start page and the hydrated one could be read as they came.
    counts = [int(line.split(": ")[1].split()[0]) for line in notes.splitlines() if "rendered in" in line]
    assert sum(counts) == len(found) - 2


def test_selectors_are_waited_for_and_missed_aloud(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    waits = ("--wait-for", ".late", "--wait-for", ".never", "--render-timeout", "9")
    run = run_sumi("mirror", f"{small_site.url}/app/late", *QUICK, "--render", "fast", *waits)
    assert "Better late than never." in text_of(tmp_path, pages(run)["late"])
    assert "nothing matched '.never' on 1 page" in notes_of(run)


def test_a_script_that_leads_elsewhere_is_a_redirect(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    run = run_sumi("mirror", f"{small_site.url}/app/sends-on", *QUICK, "--render", "balanced")
    found = pages(run)
    assert found["sends-on"]["outcome"] == "redirected"
    assert ARTICLES["stones"].strip() in text_of(tmp_path, found["routed/stones"])


def test_a_page_that_never_falls_silent_or_grows_for_ever_is_taken_as_far_as_it_came(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    limits = ("--render", "thorough", "--render-timeout", "9")
    run = run_sumi("mirror", f"{small_site.url}/app/polls", *QUICK, *limits)
    assert "Polling on." in text_of(tmp_path, pages(run)["polls"])
    assert "still changing when its time was up on 1 page" in notes_of(run)
    run = run_sumi("mirror", f"{small_site.url}/app/endless?ever", *QUICK, *limits)
    assert "Row 1.0 of" in text_of(tmp_path, pages(run)["endless?ever"])
    # Where its time was up before the first screen had been seen, all that can be said is that it changes.
    assert re.search("still (growing after|changing when its time was up)", notes_of(run))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--wait-for", "(("), "--wait-for '((' is not a CSS selector"),
        (("--browser", "no-such-browser"), "--browser 'no-such-browser' is not a program"),
        (("--browser", "false"), "the browser cannot be started"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_made(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    run = run_sumi("mirror", f"{small_site.url}/app/late", *QUICK, "--render", "auto", *arguments)
    assert run.returncode == 2
    assert said in run.stderr
    assert "Traceback" not in run.stderr
    assert not (tmp_path / "output").exists()


def test_without_a_browser_the_way_to_one_is_told(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    nowhere = {"PATH": str(tmp_path)}
    run = run_sumi("mirror", f"{small_site.url}/app/late", *QUICK, "--render", "auto", env=nowhere)
    assert run.returncode == 2
    assert "--render needs Chromium or Chrome, and none was found" in run.stderr
    doctor = run_sumi("doctor", str(tmp_path), env=nowhere)
    assert doctor.returncode == 0
    assert "none found" in doctor.stdout
