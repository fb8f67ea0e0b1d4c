"""Patterns are applied, invalid ones are refused with a sentence, and none can be made slow."""

from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.folder_site import folder_site
from tests.site import RunningSite

ONE = ("--rate-limit", "0", "--max-pages", "1", "--retries", "0", "--json")


@pytest.mark.parametrize("pattern", ["re:^/(a+)+$", "re:^/(a|aa)+$", "/" + "*a" * 40 + "c"])
def test_a_link_made_to_slow_down_its_pattern_does_not(
    small_site: RunningSite, run_sumi: RunSumi, pattern: str
) -> None:
    run = run_sumi("mirror", f"{small_site.url}/{'a' * 4000}b", *ONE, "--exclude", pattern)
    assert run.events[-1]["outcomes"]["not_found"] == 1
    refused = run_sumi("mirror", f"{small_site.url}/aaaa", *ONE, "--exclude", "re:^/(a+)+$", "-o", "refused")
    assert refused.returncode == 2
    assert "is refused, excluded by re:^/(a+)+$" in refused.stderr


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("re:(", "is not valid: missing ): ("),
        ("re:/(?!docs)", "combine --include and --exclude instead"),
        (r"re:(a)\1", "back-references are not supported"),
    ],
)
def test_an_invalid_pattern_is_refused_before_any_request(
    small_site: RunningSite, run_sumi: RunSumi, pattern: str, words: str
) -> None:
    run = run_sumi("mirror", f"{small_site.url}/", "--exclude", pattern)
    assert run.returncode == 2
    assert words in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stderr.count("\n") <= 2


def test_the_given_url_is_fetched_even_if_no_pattern_includes_it(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", '<a href="api/one.html">one</a> <a href="blog.html">blog</a>')
        site.write("api/one.html", "<p>One.</p>")
        site.write("blog.html", "<p>Not wanted.</p>")
        run = run_sumi("mirror", site.url, "--rate-limit", "0", "--include", "/api/**", "--json")
    assert run.returncode == 0
    assert run.events[-1]["outcomes"]["captured"] == 2
    assert run.events[-1]["outcomes"]["excluded"] == 1


@pytest.mark.parametrize("job", ["mirror", "capture"])
def test_an_excluded_start_url_is_refused_before_any_request(
    run_sumi: RunSumi, tmp_path: Path, job: str
) -> None:
    with folder_site(tmp_path / "site") as site:
        run = run_sumi(job, f"{site.url}api/one.html", "--exclude", "/api/**")
        assert site.answers == []
    assert run.returncode == 2
    assert "there is nothing to fetch" in run.stderr
    assert "/api/**" in run.stderr


def test_a_pattern_that_matched_nothing_is_told_with_the_syntax(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", '<p>To <a href="e1.html">one</a> and <a href="f1.html">another</a>.</p>')
        site.write("e1.html", "<p>The first of the pages that are numbered.</p>")
        site.write("f1.html", "<p>And this is a page of another letter.</p>")
        options = ("--rate-limit", "0", "--json", "--include", "/**", "--exclude", "/f*")
        done = run_sumi("mirror", site.url, *options, "--exclude", "/e[0-9]*", "--exclude", "/f1*")
    notes = [note for note in done.events[-1]["notes"] if "matched" in note]
    (said,) = notes
    assert said.startswith("no URL matched the pattern /e[0-9]*: patterns are globs, with *, ** and ? only")
    assert done.events[-1]["outcomes"]["captured"] == 2


def test_a_pattern_of_ours_that_matched_nothing_is_not_told(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", "<p>A page without a link to sign out.</p>")
        (tmp_path / "c.txt").write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb\n")
        done = run_sumi("mirror", site.url, "--cookie-file", "c.txt", "--json")
    assert not [note for note in done.events[-1]["notes"] if "matched" in note]
