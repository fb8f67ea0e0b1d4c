"""Captures of the same pages one after the other make a history of them."""

from pathlib import Path

from sumi.history.store import History
from tests.commands import RunSumi
from tests.e2e.capture.captures import FAST, sites, write_section


def history(tmp_path: Path) -> dict[str, list[str]]:
    store = History(tmp_path / "captures" / "history")
    try:
        found: dict[str, list[str]] = {}
        for version in reversed(store.changes()):
            if version.sha256 is not None:
                assert store.text(version.sha256) is not None
            found.setdefault(version.url.rpartition("/")[2], []).append(version.kind)
        return found
    finally:
        store.close()


def test_later_captures_add_versions_and_tell_what_is_gone(run_sumi: RunSumi, tmp_path: Path) -> None:
    with sites(tmp_path, 1) as [site]:
        write_section(site, "docs", 4)
        words = ("capture", f"{site.url}docs/", *FAST, "--skip-cache")
        assert run_sumi(*words).returncode == 0
        assert run_sumi(*words).returncode == 0
        assert set(map(tuple, history(tmp_path).values())) == {("added",)}
        write_section(site, "docs", 3)
        site.remove("docs/p3.html")
        site.write("docs/p1.html", "<p>Something else altogether.</p>")
        assert run_sumi(*words).returncode == 0
    found = history(tmp_path)
    assert found["p1.html"] == ["added", "changed"]
    assert found["p3.html"] == ["added", "gone"]
    assert found["p0.html"] == ["added"]


def test_a_capture_that_was_limited_does_not_call_the_rest_gone(run_sumi: RunSumi, tmp_path: Path) -> None:
    with sites(tmp_path, 1) as [site]:
        write_section(site, "docs", 4)
        words = ("capture", f"{site.url}docs/", *FAST)
        assert run_sumi(*words).returncode == 0
        run_sumi(*words, "--limit", "2")
    assert all("gone" not in kinds for kinds in history(tmp_path).values())


def test_without_history_nothing_of_it_is_written(run_sumi: RunSumi, tmp_path: Path) -> None:
    with sites(tmp_path, 1) as [site]:
        write_section(site, "docs", 1)
        assert run_sumi("capture", f"{site.url}docs/", *FAST, "--no-history").returncode == 0
    assert not (tmp_path / "captures" / "history").exists()
