"""Renaming at the end of a run can be killed at any step: no page is lost, and the next run completes it."""

import shutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sumi
from sumi.events import Summary
from sumi.jobs.mirror import run as assembly
from sumi.jobs.mirror.file_names import rename_pages
from sumi.jobs.mirror.settings import MirrorSettings
from sumi.urls.paths import page_path, spare_path
from tests.folder_site import FolderSite, folder_site

NAMES = ("/a/", "/A", "/a", "/b%20c", "/b_c")
STEPS = 24  # more than it takes, so that the last ones run through


class Killed(Exception):
    """The run ends here."""


class FailingFrom:
    """Passes calls on to the real part, until so many were made to all parts together."""

    def __init__(self, real: Any, calls: Iterator[int]) -> None:
        self._real = real
        self._calls = calls

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if next(self._calls, None) is None:
                raise Killed(name)
            return getattr(self._real, name)(*arguments)

        return call


def ending_after(steps: int) -> Callable[..., Awaitable[None]]:
    async def rename(moves: Any, ledger: Any, frontier: Any, tree: Any) -> None:
        calls = iter(range(steps))
        failing: list[Any] = [FailingFrom(part, calls) for part in (frontier, tree)]
        await rename_pages(moves, ledger, *failing)

    return rename


def mirrored(site: FolderSite, output: Path) -> Summary:
    settings = MirrorSettings(
        url=site.url,
        output=str(output),
        update=True,
        rate_limit=0,
        min_free=0,
        processes=0,
        rewrite_links=True,
    )
    return sumi.sync.mirror(settings)


def link_to(site: FolderSite, *names: str) -> None:
    links = "".join(f'<a href="{name}">{name}</a> ' for name in names)
    site.bodies["/"] = f"<title>Start</title><p>From here to {links}.</p>".encode()


def tree(root: Path) -> dict[str, bytes]:
    """Every page without the time of its fetch."""
    return {
        str(file.relative_to(root)): b"".join(
            line for line in file.read_bytes().splitlines(keepends=True) if not line.startswith(b"fetched_at")
        )
        for file in root.rglob("index.md")
    }


def test_renaming_can_be_killed_at_any_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with folder_site(tmp_path / "site") as site:
        for name in NAMES:
            site.bodies[name] = f"<title>{name}</title><p>The page of the name {name}.</p>".encode()
        link_to(site, "/a/", "/b%20c")
        mirrored(site, tmp_path / "begun")
        link_to(site, *NAMES)
        mirrored(site, tmp_path / "whole")
        expected = tree(tmp_path / "whole")
        assert len(expected) == 1 + len(NAMES)
        ended = []
        for steps in range(STEPS):
            shutil.copytree(tmp_path / "begun", tmp_path / "killed")
            with monkeypatch.context() as patched:
                patched.setattr(assembly, "rename_pages", ending_after(steps))
                try:
                    mirrored(site, tmp_path / "killed")
                except Killed as killed:
                    ended.append(str(killed))
            mirrored(site, tmp_path / "killed")
            assert tree(tmp_path / "killed") == expected, f"after {steps} steps"
            shutil.rmtree(tmp_path / "killed")
        assert set(ended) == {"read_page", "replace_page", "amend", "sync", "remove_file"}
        assert len(ended) < STEPS


def test_files_of_a_killed_run_under_other_names_are_removed(tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        for name in NAMES:
            site.bodies[name] = f"<title>{name}</title><p>The page of the name {name}.</p>".encode()
        link_to(site, *NAMES)
        output = tmp_path / "output"
        mirrored(site, output)
        whole = tree(output)
        written_before_the_kill = [
            output / path
            for name in NAMES
            for path in (page_path(site.url.rstrip("/") + name), spare_path(site.url.rstrip("/") + name))
        ]
        for file in written_before_the_kill:
            if not file.exists():
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(b"written, and not settled")
        assert tree(output) != whole
        mirrored(site, output)
        assert tree(output) == whole
