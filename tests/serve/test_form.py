"""The form for a new job: what it offers is an option of the command, and its defaults are the command's."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from sumi.cli.main import COMMANDS, load_command
from sumi.serve.commands import FLAGS, JobRequest, command_for, log_place
from tests.browsers import BROWSER, needs_browser
from tests.commands import RunSumi, SpawnSumi
from tests.folder_site import FolderSite
from tests.serve.browsing import looking_at
from tests.serve.windows import OpenWindow, opened

expect.set_options(timeout=40_000)  # of a machine that does other things, too
_NO_DEFAULT = {"no limit", "none", "0"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(BROWSER), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.mark.parametrize("kind", FLAGS)
def test_every_field_is_an_option_of_its_command(kind: str, tmp_path: Path) -> None:
    request = JobRequest(
        url="https://a.example/",
        kind=kind,
        include=("/a",),
        exclude=("b.example",),
        contact="me@example.org",
        follow_links=True,
        render=True,
        assets=True,
        max_pages="3",
        rate_limit="3",
        concurrency="3",
        max_depth="3",
        external_hops="3",
        domain_requests="3",
        pause="100",
    )
    words = command_for(request, [tmp_path])
    command = next(command for command in COMMANDS if command.name == words[0])
    load_command(command).build_parser().parse_all(words[1:])  # or it refuses what it does not know
    given = {word.partition("=")[0] for word in words}
    assert all(
        any(word.startswith(flag.partition("=")[0]) for word in given) for flag in FLAGS[kind].values()
    )


def test_the_log_of_several_mirrors_is_that_of_the_first(tmp_path: Path) -> None:
    words = command_for(JobRequest(url="https://a.example/ https://b.example/"), [tmp_path])
    assert log_place(words) == (tmp_path, "a.example")


def _said(page: Page) -> dict[str, str]:
    """What stands below each field of the form."""
    read = """fields => Object.fromEntries(fields.map(field =>
        [field.name, field.closest("label").querySelector("small")?.textContent ?? ""]))"""
    found: dict[str, str] = page.locator("form [name]").evaluate_all(read)
    return found


def _default(text: str, flag: str) -> str:
    """Of an option, from the help of its command."""
    own = re.search(rf"^ +{flag} .*?Default:\s+(no limit|none|[\d,]+)", text, re.DOTALL | re.MULTILINE)
    assert own is not None, flag
    return own[1].replace(",", "")


@needs_browser
def test_the_form_names_the_defaults_of_each_command(
    browser: Browser, window: OpenWindow, run_sumi: RunSumi
) -> None:
    with looking_at(browser, window) as sight:
        sight.go("/new")
        for kind, flags in FLAGS.items():
            sight.page.get_by_label("Kind").select_option(kind)
            said = _said(sight.page)
            text = run_sumi("run" if kind == "crawl" else kind, "--help", "all").stdout
            for field, note in said.items():
                told = re.match(r"([\d,]+|no limit|none)(?=.* if empty)", note)
                if field == "url" or told is None:
                    continue
                default = _default(text, flags[field])
                if "; 0 is for" in note:
                    own = re.search(rf"^ +{flags[field]} .*?Default:", text, re.DOTALL | re.MULTILINE)
                    assert own is not None
                    assert "0 for no limit" in re.sub(r"\s+", " ", own[0]), (kind, field)
                assert {told[1].replace(",", ""), default} <= _NO_DEFAULT or (
                    told[1].replace(",", "") == default
                ), (kind, field, note, default)
            assert set(said) - {"url"} <= set(flags), kind
            assert sight.faults() == [], kind


@needs_browser
def test_a_capture_of_a_pasted_list_follows_links_out_of_it(
    browser: Browser, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "library").mkdir()
    site = FolderSite(tmp_path / "site")
    site.start()
    elsewhere = site.url.replace("127.0.0.1", "localhost")
    site.write("a/index.html", f'<p>Start. <a href="{elsewhere}c.html">out</a>', title="The first base")
    site.write("b/index.html", "<p>Another.", title="The second base")
    site.write("c.html", f'<p>Outside. <a href="{elsewhere}d.html">on</a>', title="One hop away")
    site.write("d.html", "<p>Further outside.", title="Two hops away")
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "SUMI_ALLOW_PRIVATE": "1"}
    window = opened(spawn_sumi, "library", env=env)
    with looking_at(browser, window) as sight:
        page = sight.page
        sight.go("/new")
        page.get_by_label("Kind").select_option("capture")
        page.get_by_label("Requests at once").fill("3")
        page.get_by_label("Links to follow out of the bases").fill("1")
        page.get_by_label("Requests a second, per host").fill("0")
        page.locator("[name=url]").evaluate(
            """(field, text) => {
              field.focus();
              document.execCommand("insertText", false, text);
            }""",
            f"{site.url}a/\n{site.url}b/",
        )
        expect(page.get_by_text(f"-- {site.url}a/ {site.url}b/")).to_be_visible()
        assert sight.faults() == []
        page.get_by_role("button", name="Start").click()
        name = f"{site.url.removeprefix('http://')}a and 1 more"
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
        expect(page.get_by_text("complete", exact=True)).to_be_visible()
        page.get_by_role("link", name="Pages").click()
        page.get_by_role("button", name="List").click()
        for title in ("The first base", "The second base", "One hop away"):
            expect(page.get_by_role("link", name=title, exact=True)).to_be_visible()
        expect(page.get_by_text("Two hops away")).to_have_count(0)
        page.get_by_role("link", name="Log", exact=True).click()
        expect(page.get_by_text(re.compile(r"^complete after .*captured"))).to_be_visible()
        sight.go("/")
        expect(page.get_by_role("link", name=name)).to_be_visible()
        assert sight.troubles == []
    site.stop()
