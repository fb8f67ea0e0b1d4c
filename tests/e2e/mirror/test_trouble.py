"""Failures are attributed to the right page or host, and users see until when."""

import re
import socket
from itertools import pairwise
from pathlib import Path

import pytest

from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.folder_site import folder_site
from tests.site import MakeSite

GOOD = [f"good{number}.html" for number in range(6)]
LEFT_ALONE = re.compile(
    r"waiting: 127\.0\.0\.1:\d+ answered 503 and asked for a pause: left alone until \d\d:\d\d:\d\d"
)


def test_a_page_that_always_answers_503_comes_after_all_others_and_ends_as_failed(
    tmp_path: Path, run_sumi: RunSumi
) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", "".join(f'<a href="/{name}">{name}</a>' for name in ("bad.html", *GOOD)))
        for name in GOOD:
            site.write(name, f"the text of {name}")
        site.broken = {"/bad.html"}
        run = run_sumi("mirror", site.url, "--rate-limit", "20", "--retries", "2", "--follow-links", "--json")
    asked = [answer.path for answer in site.answers if answer.path.endswith(".html")]
    assert sorted(asked) == sorted([*(f"/{name}" for name in GOOD), *["/bad.html"] * 3])
    assert asked[-2:] == ["/bad.html"] * 2
    assert run.events[-1]["outcomes"]["server_error"] == 1
    assert not [event for event in run.events if event["event"] == "wait"]


@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["lines", "json"])
def test_a_retry_after_is_reported_with_its_end(
    flags: tuple[str, ...], tmp_path: Path, spawn_sumi: SpawnSumi
) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", '<a href="/busy.html">busy</a> <a href="/next.html">next</a>')
        site.broken = {"/busy.html"}
        site.headers = {"/busy.html": {"Retry-After": "3600"}}
        running = spawn_sumi("mirror", site.url, "--rate-limit", "20", "--follow-links", *flags)
        try:
            if flags:
                wait_until(running, lambda: any(event["event"] == "wait" for event in running.events))
                [told] = [event for event in running.events if event["event"] == "wait"]
                assert told["why"] == "answered 503 and asked for a pause"
                assert told["pending"] >= 1
            else:
                wait_until(running, lambda: bool(LEFT_ALONE.search(running.stderr.read_text())))
        finally:
            running.process.kill()
            running.process.wait()


@pytest.mark.parametrize(
    ("flags", "outcome"),
    [(("--allow-private",), "connect_failed"), ((), "address_refused")],
    ids=["refused", "private"],
)
def test_an_unreachable_host_is_reported_with_the_cause(
    flags: tuple[str, ...], outcome: str, tmp_path: Path, run_sumi: RunSumi
) -> None:
    with socket.socket() as nobody, folder_site(tmp_path / "site") as site:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        host = f"127.0.0.1:{nobody.getsockname()[1]}"
        site.write("index.html", f'<a href="http://{host}/page">there</a>')
        common = ("--rate-limit", "20", "--retries", "0", "--follow-links", "--json")
        run = run_sumi("mirror", site.url, "--hosts", host, *common, *flags)
    [page] = [event for event in run.events if event.get("url") == f"http://{host}/page"]
    assert page["outcome"] == outcome, page
    assert "robots" not in page["rule"]


def test_a_sitemap_comes_no_sooner_after_robots_txt_than_the_rate_limit_says(
    make_site: MakeSite, run_sumi: RunSumi
) -> None:
    site = make_site(pages=8, seed=2)
    run_sumi("mirror", site.url, "--rate-limit", "2", "--content-rate-limit", "20")
    requests = sorted(site.requests(), key=lambda request: request.monotonic)
    pages = site.truth.captured_by_sitemap
    for before, after in pairwise(requests):
        least = 0.05 if before.path in pages and after.path in pages else 0.5
        assert after.monotonic - before.monotonic >= least, (before.path, after.path)
