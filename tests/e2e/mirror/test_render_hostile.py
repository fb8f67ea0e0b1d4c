"""A page in the browser reaches nobody whom the crawler may not, and what it breaks costs one page."""

import os
import select
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest

from sumi.fetch.browser.chromium import argument_of, tree
from tests.browsers import needs_browser
from tests.commands import RunSumi, SpawnedSumi, SpawnSumi
from tests.e2e.mirror.test_render import QUICK, pages, text_of
from tests.folder_site import folder_site
from tests.site import MakeSite, RunningSite, SitemapPreset
from tests.site.apps import ARTICLES
from tests.thoroughness import usually

pytestmark = needs_browser


def test_no_way_leads_inward(
    make_site: MakeSite, small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    """The seed opens its own port on this machine; another port is as closed as any private address."""
    inner = make_site(pages=3)
    address = f"127.0.0.1:{inner.port}"
    run = run_sumi("mirror", f"{small_site.url}/app/inward?{address}", *QUICK, "--render", "balanced")
    text = text_of(tmp_path, pages(run)[f"inward?{address}"])
    for way in ("fetch", "redirect", "script", "image", "socket", "worker", "workersocket"):
        assert f"{way} failed" in text
    assert "got through" not in text
    assert "rtc undefined" in text
    assert inner.requests() == []


def test_the_same_ways_lead_to_whom_the_user_named(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    """What the test before relies on: these requests are really made, and all but sockets and images work."""
    address = f"127.0.0.1:{small_site.port}"
    run = run_sumi("mirror", f"{small_site.url}/app/inward?{address}", *QUICK, "--render", "balanced")
    text = text_of(tmp_path, pages(run)[f"inward?{address}"])
    for way in ("fetch", "redirect", "script", "worker"):
        assert f"{way} got through" in text
    for way in ("image", "socket", "workersocket"):
        assert f"{way} failed" in text
    assert small_site.requests_to("/app/socket") == []


def test_nothing_but_the_web_is_opened(small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    run = run_sumi("mirror", f"{small_site.url}/app/schemes", *QUICK, "--render", "balanced")
    text = text_of(tmp_path, pages(run)["schemes"])
    assert "control got through" in text
    assert text.count("got through") == 1
    assert text.count("failed") == 10


def test_not_even_a_connection_is_made_on_the_quiet(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    """Hints to connect early, beacons, forms, workers, plug-ins: of most of them no script hears the end."""
    with socket.create_server(("127.0.0.1", 0)) as inner:
        inner.setblocking(False)
        address = f"127.0.0.1:{inner.getsockname()[1]}"
        run = run_sumi("mirror", f"{small_site.url}/app/quietly?{address}", *QUICK, "--render", "thorough")
        assert "All of it was tried." in text_of(tmp_path, pages(run)[f"quietly?{address}"])
        with pytest.raises(BlockingIOError):
            inner.accept()
    assert small_site.requests_to("/app/registered") == []  # neither a service worker nor a page made ahead


ELSEWHERE = (
    "file:///etc/hostname",
    "data:text/html,<p>Made up</p>",
    "chrome://version",
    "view-source:http://127.0.0.1/",
    "mailto:a@example.org",
)


@pytest.mark.parametrize("elsewhere", usually(ELSEWHERE[:2], ELSEWHERE))
def test_a_page_that_leads_out_of_the_web_stays_what_it_is(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path, elsewhere: str
) -> None:
    asked = f"{small_site.url}/app/strays?{quote(elsewhere, safe='')}"
    run = run_sumi("mirror", asked, *QUICK, "--render", "balanced")
    [page] = pages(run).values()
    assert "Here, and nowhere else." in text_of(tmp_path, page)
    assert "Made up" not in text_of(tmp_path, page)


def test_a_page_that_makes_itself_blank_is_not_taken_for_an_empty_one(
    small_site: RunningSite, run_sumi: RunSumi
) -> None:
    run = run_sumi("mirror", f"{small_site.url}/app/strays?about:blank", *QUICK, "--render", "balanced")
    [page] = pages(run).values()
    assert (page["outcome"], page["rule"]) == ("render_failed", "its script left the page for about:blank")


def test_a_script_without_end_costs_its_page_only(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=3, sitemap=SitemapPreset.NONE)
    limits = ("--render", "fast", "--render-timeout", "5", "--render-tabs", "1")
    run = run_sumi("mirror", f"{site.url}/app/spins", *QUICK, *limits)
    assert pages(run)["spins"]["outcome"] == "render_failed"
    assert "within 5 s" in pages(run)["spins"]["rule"]
    assert run.returncode == 1
    again = run_sumi("mirror", f"{site.url}/app/spins", *QUICK, "--render", "none", "-o", "plain")
    assert pages(again)["spins"]["outcome"] == "captured"


def test_the_page_after_a_script_without_end_gets_another_browser(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        names = [f"p{number}.html" for number in range(4)]
        links = "".join(f'<a href="{name}">{name}</a>' for name in ("loop.html", *names))
        site.write("index.html", links)
        site.write("loop.html", "<script>while (true) {}</script>")
        for name in names:
            site.write(name, f"<p>{name}</p>")
        limits = ("--render", "fast", "--render-timeout", "5", "--render-tabs", "1", "--retries", "0")
        run = run_sumi("mirror", site.url, *QUICK, *limits)
    ended = [event for event in run.events if event["event"] == "page"]
    outcomes = {event["url"].removeprefix(site.url): event["outcome"] for event in ended}
    assert outcomes["loop.html"] == "render_failed"
    assert {outcomes[name] for name in names} == {"captured"}


def test_memory_and_size_are_bounded(small_site: RunningSite, run_sumi: RunSumi) -> None:
    swollen = run_sumi(
        "mirror", f"{small_site.url}/app/swells", *QUICK, "--render", "balanced", "--render-memory", "300MiB"
    )
    assert pages(swollen)["swells"]["outcome"] == "render_failed"
    assert "300 MiB" in pages(swollen)["swells"]["rule"]
    grown = run_sumi(
        "mirror", f"{small_site.url}/app/grows", *QUICK, "--render", "fast", "--max-body", "1MiB"
    )
    assert pages(grown)["grows"]["outcome"] == "too_large"


def test_a_killed_browser_is_replaced_and_its_page_tried_again(
    make_site: MakeSite, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    site = make_site(pages=3, sitemap=SitemapPreset.NONE)
    render = ("--render", "balanced", "--render-tabs", "1", "--retries", "3")
    run = spawn_sumi("mirror", f"{site.url}/app/routed", *QUICK, *render)
    _until(run, lambda: bool(site.requests_to("/app/router")))
    os.kill(_browser_of(run), signal.SIGKILL)
    assert run.process.wait(timeout=90) == 0, run.stderr.read_text()
    captured = [event["url"] for event in run.events if event.get("outcome") == "captured"]
    assert len(captured) == len(ARTICLES) + 1


def test_killing_the_crawler_leaves_nothing_behind_for_long(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    site = make_site(pages=3, sitemap=SitemapPreset.NONE)
    run = spawn_sumi("mirror", f"{site.url}/app/spins", *QUICK, "--render", "fast")
    _until(run, lambda: bool(_browsers(run)))
    browser = _browser_of(run)
    profile = argument_of(browser, "user-data-dir")
    assert profile is not None
    assert Path(profile).parent == Path(tempfile.gettempdir())
    watch = os.pidfd_open(browser)
    left = {path for path in Path(tempfile.gettempdir()).glob("sumi-browser-*") if _is_used_by(path, browser)}
    assert left
    os.kill(run.process.pid, signal.SIGKILL)
    run.process.wait()
    _await_end(watch)
    run_sumi("mirror", f"{site.url}/app/told", *QUICK, "--render", "fast", "-o", "next")
    assert not any(path.exists() for path in left)  # what a killed run leaves goes with the next one
    assert not Path(profile).exists()


def _is_used_by(folder: Path, browser: int) -> bool:
    return f"TMPDIR={folder}".encode() in Path(f"/proc/{browser}/environ").read_bytes().split(b"\0")


def _browsers(run: SpawnedSumi) -> list[int]:
    """The main processes of a run's browsers."""
    own = (pid for pid in tree(run.process.pid) if argument_of(pid, "sumi-browser") is not None)
    return [pid for pid in own if argument_of(pid, "type") is None]


def _browser_of(run: SpawnedSumi) -> int:
    return _browsers(run)[0]


def _until(run: SpawnedSumi, happened: Callable[[], bool]) -> None:
    """Looks every twentieth of a second; a command that ends before fails the test with its own words."""
    while not happened():
        with suppress(subprocess.TimeoutExpired):
            run.process.wait(timeout=0.05)
            raise AssertionError(run.stderr.read_text())


def _await_end(watch: int) -> None:
    poller = select.poll()
    poller.register(watch, select.POLLIN)
    assert poller.poll(30_000), "the browser outlived the crawler"
    os.close(watch)
