"""`sumi crawl validate-policy` says what a crawl would take and which rule decides, and fetches nothing."""

import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.commands import ROOT, RunSumi, sumi_command, sumi_environment
from tests.site.github import GithubWorld
from tests.site.github_answers import ROBOTS

GITHUB = ("--config", str(ROOT / "examples/github.yaml"))


def judged(text: str) -> dict[str, dict[str, Any]]:
    return {each["url"]: each for each in (msgspec.json.decode(line) for line in text.splitlines())}


def test_each_url_gets_a_verdict_a_reason_and_a_type(run_sumi: RunSumi) -> None:
    urls = {
        "https://github.com/Owner/Repo/?tab=readme#top": (True, "page type repo_root", "repo_root"),
        "https://github.com/owner/repo/issues/7": (True, "page type issues", "issues"),
        "https://github.com/owner/repo/tree/main": (False, "excluded: none of the pages", "other"),
        "https://gist.github.com/owner/repo": (False, "out_of_scope: host is one of the denied", "repo_root"),
        "https://example.org/a/b": (False, "out_of_scope: host is not one of github.com", "repo_root"),
        "https://github.com/o/r/blob/main/logo.png": (False, r"excluded: denied by \.(png|", "blob"),
        "mailto:somebody": (False, "bad_url", ""),
    }
    done = run_sumi("crawl", "validate-policy", *GITHUB, "--json", *urls)
    assert done.returncode == 1
    found = judged(done.stdout)
    for url, (ok, reason, page_type) in urls.items():
        assert (found[url]["ok"], found[url]["page_type"]) == (ok, page_type)
        assert found[url]["reason"].startswith(reason)
    first = found["https://github.com/Owner/Repo/?tab=readme#top"]
    assert (first["canonical"], first["repo"]) == ("https://github.com/Owner/Repo", "owner/repo")
    assert found["https://github.com/owner/repo/issues/7"]["caps"] == {
        "caps.per_repo_max_pages": 200,
        "caps.per_repo_max_issues": 50,
        "caps.max_pages": 20_000,
    }
    assert found["https://github.com/owner/repo/tree/main"]["caps"] == {}


def test_the_banner_comes_first_and_words_are_for_people(run_sumi: RunSumi) -> None:
    done = run_sumi("crawl", "validate-policy", *GITHUB, "https://github.com/o/r", "https://github.com/o/r/")
    assert done.returncode == 0
    assert done.stderr.startswith("user agent  example-bot/1.0 (+https://example.org/bot")
    assert "https://github.com/robots.txt" in done.stderr
    assert done.stderr.endswith("2 taken, 0 refused\n")
    assert done.stdout.splitlines() == [
        "ok       https://github.com/o/r  [repo_root]  page type repo_root",
        "         counts toward caps.per_repo_max_pages 200, caps.max_pages 20,000",
        "ok       https://github.com/o/r/  [repo_root]  page type repo_root",
        "         known as https://github.com/o/r",
        "         counts toward caps.per_repo_max_pages 200, caps.max_pages 20,000",
    ]


def test_a_file_of_urls_and_a_robots_txt(run_sumi: RunSumi, tmp_path: Path) -> None:
    world = GithubWorld(3)
    pages = {f"https://github.com{path}": kind for path, kind in world.pages()}
    (tmp_path / "urls.txt").write_text("# found\n\n" + "\n".join(pages) + "\nhttps://github.com/login\n")
    (tmp_path / "robots.txt").write_text(ROBOTS + "Disallow: /trending\n")
    options = ("--from", "urls.txt", "--robots", "robots.txt", "--json")
    done = run_sumi("crawl", "validate-policy", *GITHUB, *options)
    found = judged(done.stdout)
    assert found.pop("https://github.com/login")["ok"] is False
    trending = found.pop("https://github.com/trending")
    assert (trending["ok"], trending["page_type"]) == (False, "trending")
    assert trending["reason"].startswith("robots_denied: robots.txt: Disallow: /trending")
    assert {url: each["page_type"] for url, each in found.items() if each["ok"]} == {
        url: kind for url, kind in pages.items() if kind != "trending"
    }


def test_urls_may_come_through_a_pipe(tmp_path: Path) -> None:
    done = subprocess.run(
        sumi_command(("crawl", "validate-policy", *GITHUB, "--from", "-", "--json")),
        cwd=tmp_path,
        env=sumi_environment(None),
        input=b"https://github.com/trending\n\xff\xfe\nhttps://github.com/" + b"a" * 200_000 + b"\n",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert [each["ok"] for each in map(msgspec.json.decode, done.stdout.splitlines())] == [True, False, False]


def test_without_urls_the_configuration_is_checked(run_sumi: RunSumi, tmp_path: Path) -> None:
    good = run_sumi("crawl", "validate-policy", *GITHUB)
    assert (good.returncode, good.stdout) == (0, "")
    assert "the configuration is valid" in good.stderr
    (tmp_path / "bad.yaml").write_text("profile: gitlab\nlimits:\n  req_per_sec: 0\n")
    bad = run_sumi("crawl", "validate-policy", "--config", "bad.yaml", "https://github.com/o/r")
    assert (bad.returncode, bad.stdout) == (2, "")
    lines = bad.stderr.splitlines()
    assert [line.partition(": ")[2].partition(": ")[2].split(":")[0] for line in lines] == [
        "bad.yaml",
        "bad.yaml, line 1",
        "bad.yaml, line 3",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["crawl"], "sumi crawl: give one of its commands: "),
        (["crawl", "validate"], "give one of its commands: "),
        (["crawl", "validate-policy", "https://a.test/"], "required: --config"),
        (["crawl", "validate-policy", *GITHUB, "--from", "none.txt"], "none.txt cannot be read"),
        (["crawl", "validate-policy", *GITHUB, "--robots", "none.txt", "https://a.test/"], "cannot be read"),
    ],
)
def test_bad_usage_is_a_sentence(run_sumi: RunSumi, words: list[str], said: str) -> None:
    done = run_sumi(*words)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]


def test_a_family_of_commands_lists_its_commands(run_sumi: RunSumi) -> None:
    done = run_sumi("crawl", "--help")
    assert done.returncode == 0
    assert "crawl validate-policy" in done.stdout
