"""A mirror resumes under changed rules: pages out of scope are dropped, those in scope now are fetched."""

import asyncio
from pathlib import Path

from sumi.engine.changed_rules import PRESET_NOTE
from sumi.policy import FrontierPolicy
from sumi.state.journal import FilesStore
from tests.commands import RunSumi
from tests.folder_site import folder_site
from tests.site import MakeSite, SitemapPreset
from tests.site.oracle import check_mirror

FAST = ("--rate-limit", "0", "--json", "--concurrency", "4", "--processes", "0")


def warnings(events: list[dict[str, str]]) -> list[str]:
    return [event["message"] for event in events if event["event"] == "warning"]


def test_waiting_pages_outside_a_narrower_scope_are_dropped_and_counted(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=60, seed=5)
    first = run_sumi("mirror", site.url, *FAST, "--max-pages", "10")
    done = {event["url"] for event in first.events if event["event"] == "page"}
    site.clear_log()
    second = run_sumi("mirror", site.url, *FAST, "--exclude", "/anchor/*")
    told = [line for line in warnings(second.events) if "no longer wanted" in line]
    excluded = [
        event for event in second.events if event["event"] == "page" and event["outcome"] == "excluded"
    ]
    assert told == [f"the rules have changed: {len(excluded)} pending pages are no longer wanted and dropped"]
    assert len(excluded) > 1
    assert not {event["url"] for event in excluded} & {site.url + request.path for request in site.requests()}
    summary = second.events[-1]
    assert summary["outcomes"]["excluded"] >= len(excluded)
    assert sum(summary["outcomes"].values()) == summary["discovered"]
    home = tmp_path / "output" / f"127.0.0.1_{site.port}"
    assert done <= set((home / "_processed.txt").read_text().splitlines())


def test_what_was_dropped_comes_back_with_the_old_rules(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=40, seed=5)
    run_sumi("mirror", site.url, *FAST, "--max-pages", "10")
    run_sumi("mirror", site.url, *FAST, "--exclude", "/anchor/*")
    last = run_sumi("mirror", site.url, *FAST)
    assert any("refused before will be fetched" in line for line in warnings(last.events))
    assert check_mirror(tmp_path / "output", site.truth, site.requests()) == []


def test_a_larger_depth_fetches_what_was_too_deep(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=40, seed=5, sitemap=SitemapPreset.NONE)
    shallow = run_sumi("mirror", site.url, *FAST, "--max-depth", "1")
    assert shallow.events[-1]["outcomes"]["too_deep"] > 0
    run_sumi("mirror", site.url, *FAST)
    assert check_mirror(tmp_path / "output", site.truth, site.requests()) == []


def test_the_same_rules_change_nothing(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=20, seed=5)
    run_sumi("mirror", site.url, *FAST, "--exclude", "/anchor/*")
    site.clear_log()
    again = run_sumi("mirror", site.url, *FAST, "--exclude", "/anchor/*")
    assert warnings(again.events) == []
    assert site.requests() == []


def test_another_spelling_of_urls_is_refused_without_a_fresh_start(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=5, seed=5)
    run_sumi("mirror", site.url, *FAST)
    state = tmp_path / "output" / f"127.0.0.1_{site.port}" / ".sumi"

    async def pretend() -> None:
        store = FilesStore(state, FrontierPolicy(), 0.0)
        await store.put_note(PRESET_NOTE, "crawl")
        await store.aclose()

    asyncio.run(pretend())
    site.clear_log()
    refused = run_sumi("mirror", site.url, *FAST)
    assert refused.returncode == 2
    assert "started with the crawl rules for URLs" in refused.stderr
    assert "--fresh" in refused.stderr
    assert site.requests() == []
    assert run_sumi("mirror", site.url, *FAST, "--fresh").returncode in (0, 1)


def test_another_part_of_the_site_in_one_folder_is_told(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        for part in ("one", "two"):
            site.write(f"{part}/index.html", f'<p>All of {part}: <a href="more.html">more</a>.</p>')
            site.write(f"{part}/more.html", f"<p>And more of {part}.</p>")
        assert not warnings(run_sumi("mirror", f"{site.url}one/", *FAST).events)
        told = warnings(run_sumi("mirror", f"{site.url}two/", *FAST).events)
        assert any(f"a mirror of {site.url}one/" in line and "not updated" in line for line in told), told
        told = warnings(run_sumi("mirror", site.url, *FAST, "--exclude", "/two/*").events)
        assert not any("not updated" in line for line in told), told
