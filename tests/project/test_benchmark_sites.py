"""What peers are measured against is right: which pages a site has, and which of them a peer kept."""

from pathlib import Path

import pytest

from benchmarks.computed_web import ComputedWeb
from benchmarks.peers.contenders import httrack_files, kept_files
from benchmarks.peers.kept_pages import wanted
from benchmarks.real_site import reachable

ORIGIN = "http://127.0.0.1:8000"


def test_the_truth_is_what_links_lead_to(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "index.html").write_text(
        "<a href=a.html>a</a><a href='deep/b%20c.html#x'>b</a><a href=a.txt>t</a>"
    )
    (tmp_path / "a.html").write_text("<a href=gone.html>g</a><a href=?q=1>q</a><a href=//other/a.html>o</a>")
    (tmp_path / "deep" / "b c.html").write_text("<a href='http://[bad'>x</a><a href=../index.html>up</a>")
    (tmp_path / "orphan.html").write_text("nobody links here")
    paths, missing = reachable(tmp_path)
    assert paths == {"/index.html", "/a.html", "/deep/b%20c.html"}
    assert missing == 1


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        (f"{ORIGIN}/a.html#top", f"{ORIGIN}/a.html"),
        (f"{ORIGIN}/a.txt", ""),
        (f"{ORIGIN}/a.html?b.html", ""),
        ("http://127.0.0.1:80001/a.html", ""),
    ],
)
def test_every_peer_gets_the_same_job(url: str, kept: str) -> None:
    assert wanted(ORIGIN, url) == kept


def test_pages_are_counted_where_peers_put_them(tmp_path: Path) -> None:
    (tmp_path / "pages" / "deep").mkdir(parents=True)
    (tmp_path / "pages" / "deep" / "a.html.md").touch()
    assert kept_files(tmp_path) == {"/deep/a.html"}
    (tmp_path / "127.0.0.1_8000").mkdir()
    (tmp_path / "127.0.0.1_8000" / "b.html").touch()
    assert httrack_files(tmp_path) == {"/b.html"}


def test_every_page_of_a_computed_web_can_be_reached() -> None:
    web = ComputedWeb(2_000, domains=7, links=10)
    numbers = {web.url(number): number for number in range(2_000)}
    seen, waiting = {web.url(0)}, [web.url(0)]
    while waiting:
        fresh = set(web.targets(numbers[waiting.pop()])) - seen
        seen |= fresh
        waiting += fresh
    assert seen == numbers.keys()
