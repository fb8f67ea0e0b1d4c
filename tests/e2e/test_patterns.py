"""A pattern is obeyed, one that cannot be is refused with a sentence, and none can be made to take long."""

import pytest

from tests.commands import RunSumi
from tests.site import RunningSite

ONE = ("--rate-limit", "0", "--max-pages", "1", "--retries", "0", "--json")


@pytest.mark.parametrize("pattern", ["re:^/(a+)+$", "re:^/(a|aa)+$", "/" + "*a" * 40 + "c"])
def test_a_link_made_to_hold_up_its_pattern_does_not(
    small_site: RunningSite, run_sumi: RunSumi, pattern: str
) -> None:
    run = run_sumi("mirror", f"{small_site.url}/{'a' * 4000}b", *ONE, "--exclude", pattern)
    assert run.events[-1]["outcomes"]["not_found"] == 1
    refused = run_sumi("mirror", f"{small_site.url}/aaaa", *ONE, "--exclude", "re:^/(a+)+$", "-o", "refused")
    assert refused.events[-1]["outcomes"]["excluded"] == 1


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("re:(", "is not valid: missing ): ("),
        ("re:/(?!docs)", "combine --include and --exclude instead"),
        (r"re:(a)\1", "back-references are not supported"),
    ],
)
def test_what_cannot_be_matched_is_said_before_anybody_is_asked(
    small_site: RunningSite, run_sumi: RunSumi, pattern: str, words: str
) -> None:
    run = run_sumi("mirror", f"{small_site.url}/", "--exclude", pattern)
    assert run.returncode == 2
    assert words in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stderr.count("\n") <= 2
