"""A diff lists each page, link and domain added, removed or changed between two runs, and nothing else."""

from pathlib import Path

import pytest

from sumi.errors import UsageError
from sumi.jobs.map.database import open_database
from sumi.jobs.map.diff import differences
from tests.made_maps import GOOD, Page, make_map

PAGES = [
    GOOD,
    Page("https://good.test/a", history={2: "DeadLink"}),
    Page("https://good.test/b", history={2: "Processed"}, changed_run=2),
    Page("https://good.test/c", "Failed", history={2: "Processed"}),
    Page("https://good.test/d", run=2),
    Page("https://new.test/", run=2),
    Page("https://gone.test/", history={2: "Unreachable"}),
    Page("https://good.test/e", "Queued"),
    Page("https://listed.test/", history={3: "Blacklisted"}),
]
LINKS = [(0, 1), (0, 2), (0, 4, 2), (4, 5, 2), (0, 6), (2, 6), (0, 3, 3)]
VANISHED = [(0, 6, 2), (4, 5, 3)]


def diff(folder: Path, old: int, new: int) -> list[tuple[str, str, str, str]]:
    path = folder / "map.db"
    if not path.exists():
        make_map(path, PAGES, LINKS, runs=3, vanished=VANISHED)
    with open_database(path) as db:
        return [
            (one.subject, one.event, one.name + one.target, f"{one.before}>{one.after}")
            for one in differences(db, old, new)
        ]


def test_all_differences_between_two_runs(tmp_path: Path) -> None:
    assert diff(tmp_path, 1, 2) == [
        ("page", "went", "https://good.test/a", "Processed>DeadLink"),
        ("page", "changed", "https://good.test/b", "content>other content"),
        ("page", "changed", "https://good.test/c", "Failed>Processed"),
        ("page", "came", "https://good.test/d", ">Processed"),
        ("page", "came", "https://new.test/", ">Processed"),
        ("page", "changed", "https://gone.test/", "Processed>Unreachable"),
        ("link", "came", "https://good.test/https://good.test/d", ">"),
        ("link", "came", "https://good.test/dhttps://new.test/", ">"),
        ("link", "went", "https://good.test/https://gone.test/", ">"),
        ("domain", "came", "new.test", ">visited"),
        ("domain", "went", "gone.test", "visited>not reached"),
    ]


def test_runs_may_be_far_apart(tmp_path: Path) -> None:
    wide = diff(tmp_path, 1, 3)
    assert ("domain", "changed", "listed.test", "visited>blacklisted") in wide
    passing = [one for one in wide if one[2] == "https://good.test/dhttps://new.test/"]
    assert passing == []  # came, and went again
    assert ("link", "came", "https://good.test/https://good.test/c", ">") in wide
    assert [one for one in diff(tmp_path, 2, 3) if one[0] == "page"] == [
        ("page", "changed", "https://listed.test/", "Processed>Blacklisted")
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (1, 9, "no run 9; its last runs are: 1, 2, 3"),
        (2, 1, "give the earlier one first"),
        (2, 2, "not before"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(tmp_path: Path, old: int, new: int, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        diff(tmp_path, old, new)
