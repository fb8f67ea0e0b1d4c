"""The judge of finished mirrors accepts a faithful one and notices every kind of damage."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.site import LoggedRequest, Truth, site
from tests.site.oracle import check_mirror


def _write_mirror(folder: Path, truth: Truth) -> list[LoggedRequest]:
    """A faithful mirror, as plain as can be."""
    pages, requests = [], []
    for number, path in enumerate(sorted(truth.captured_by_sitemap)):
        page = truth.pages[path]
        front = json.dumps({"title": page.title, "url": f"http://h.test{path}"})
        text = f"---\n{front}\n---\nopens-{page.marker} text closes-{page.marker}\n"
        file = folder / f"p{number}" / "index.md"
        file.parent.mkdir(parents=True)
        file.write_text(text)
        entry = {
            "path": f"p{number}/index.md",
            "size_bytes": len(text.encode()),
            "fetched_at": "2024-01-01T00:00:00Z",
        }
        pages.append(entry | {"url": f"http://h.test{path}"})
        requests.append(LoggedRequest(0.0, 0.0, "GET", path, "h.test", 200, "sumi", 1, False))
    failed = sum(outcome == "not_found" for outcome in truth.outcomes.values())
    manifest = {"version": "2.0.0", "source_url": "http://h.test/", "sitemap_url": None, "skipped": 0}
    manifest |= {"crawl_started": "2024-01-01T00:00:00Z", "crawl_completed": "2024-01-01T00:01:00Z"}
    manifest |= {"total_pages": len(pages) + failed, "successful": len(pages), "failed": failed}
    (folder / "_manifest.json").write_text(json.dumps(manifest | {"pages": pages}))
    return requests


def _edit(folder: Path, change: Callable[[Any], object]) -> None:
    file = folder / "_manifest.json"
    manifest = json.loads(file.read_text())
    change(manifest)
    file.write_text(json.dumps(manifest))


def _rewrite(folder: Path, old: str, new: str) -> None:
    file = folder / "p3" / "index.md"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.fixture
def mirror(tmp_path: Path) -> tuple[Path, Truth, list[LoggedRequest]]:
    truth = site(1, 30)
    return tmp_path, truth, _write_mirror(tmp_path, truth)


def test_a_faithful_mirror_holds(mirror: tuple[Path, Truth, list[LoggedRequest]]) -> None:
    assert check_mirror(*mirror) == []


def test_the_mirror_may_be_in_the_folder_of_its_host(tmp_path: Path) -> None:
    truth = site(1, 30)
    requests = _write_mirror(tmp_path / "h.test", truth)
    assert check_mirror(tmp_path, truth, requests) == []


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda folder: (folder / "_manifest.json").unlink(), "0 manifests"),
        (lambda folder: (folder / "_manifest.json").write_text("{"), "unreadable manifest"),
        (lambda folder: _edit(folder, lambda m: m["pages"].pop()), "lost: "),
        (lambda folder: _edit(folder, lambda m: m["pages"].append(m["pages"][0])), "recorded 2 times"),
        (lambda folder: _edit(folder, lambda m: m["pages"][0].update(path="P1/index.md")), "share the file"),
        (
            lambda folder: _edit(folder, lambda m: m["pages"][0].update(url="http://h.test/new")),
            "unexpected: ",
        ),
        (lambda folder: _edit(folder, lambda m: m.update(crawl_completed=None)), "not complete"),
        (lambda folder: _edit(folder, lambda m: m.update(failed=7)), "failed is 7"),
        (lambda folder: (folder / "p3" / "index.md").unlink(), "no such file"),
        (lambda folder: _rewrite(folder, "text", "test and more"), "recorded"),
        (lambda folder: _rewrite(folder, "title", "tilte"), "title None"),
        (lambda folder: _rewrite(folder, "closes", "clozes"), "not all there"),
        (lambda folder: shutil.copytree(folder / "p3", folder / "p3b"), "in no manifest: p3b"),
    ],
)
def test_damage_is_noticed(
    mirror: tuple[Path, Truth, list[LoggedRequest]], damage: Callable[[Path], object], complaint: str
) -> None:
    folder, truth, requests = mirror
    damage(folder)
    assert any(complaint in violation for violation in check_mirror(folder, truth, requests))


def _request(path: str, status: int = 200) -> LoggedRequest:
    return LoggedRequest(0.0, 0.0, "GET", path, "h.test", status, "sumi", 1, False)


def test_needless_requests_are_noticed(mirror: tuple[Path, Truth, list[LoggedRequest]]) -> None:
    folder, truth, requests = mirror
    again = [*requests, _request("/")]
    assert check_mirror(folder, truth, again) == [
        "GET / 2 times with 0 kills",
        "1 repeated requests, at most 0 excused",
    ]
    assert check_mirror(folder, truth, again, kills=1) == []
    assert check_mirror(folder, truth, [*again, *requests[5:30]], kills=1, concurrency=2) == [
        "23 repeated requests, at most 2 excused"
    ]


def test_a_retry_after_a_failure_is_no_needless_request(
    mirror: tuple[Path, Truth, list[LoggedRequest]],
) -> None:
    folder, truth, requests = mirror
    assert (
        check_mirror(folder, truth, [_request("/", 503), _request("/", 429), _request("/", 0), *requests])
        == []
    )


def test_asking_for_what_robots_denies_is_noticed(mirror: tuple[Path, Truth, list[LoggedRequest]]) -> None:
    folder, truth, requests = mirror
    assert check_mirror(folder, truth, [*requests, _request("/private/draft-30")]) == [
        "asked for /private/draft-30: robots_denied"
    ]
