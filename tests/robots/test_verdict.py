"""What each kind of response for robots.txt means under every policy."""

import pytest

from sumi.policy import RobotsOnError, RobotsPolicy
from sumi.robots import RobotsAccess, robots_verdict

RULES, ALLOW, DENY = RobotsAccess.RULES, RobotsAccess.ALLOW_ALL, RobotsAccess.DENY_ALL

STANDARD = [
    (200, RULES, "rules apply"),
    (204, RULES, "rules apply"),
    (301, ALLOW, "everything allowed (301, redirected too often)"),
    (401, ALLOW, "everything allowed (401)"),
    (403, ALLOW, "everything allowed (403)"),
    (404, ALLOW, "everything allowed (404)"),
    (410, ALLOW, "everything allowed (410)"),
    (418, ALLOW, "everything allowed (418)"),
    (429, DENY, "nothing allowed (429)"),
    (500, DENY, "nothing allowed (500)"),
    (503, DENY, "nothing allowed (503)"),
    (999, DENY, "nothing allowed (999)"),
    (0, DENY, "nothing allowed (no answer)"),
    (103, DENY, "nothing allowed (103)"),
]


@pytest.mark.parametrize(("status", "access", "meaning"), STANDARD)
def test_the_standard_decides_by_default(status: int, access: RobotsAccess, meaning: str) -> None:
    verdict = robots_verdict(status, RobotsPolicy())
    assert (verdict.access, verdict.meaning) == (access, meaning)


@pytest.mark.parametrize(("on_error", "access"), [(RobotsOnError.DENY, DENY), (RobotsOnError.ALLOW, ALLOW)])
@pytest.mark.parametrize("status", [0, 301, 404, 429, 500])
def test_any_failure_can_be_made_to_deny_or_to_allow(
    status: int, on_error: RobotsOnError, access: RobotsAccess
) -> None:
    assert robots_verdict(status, RobotsPolicy(on_error=on_error)).access is access


@pytest.mark.parametrize("on_error", list(RobotsOnError))
def test_an_answer_is_obeyed_whatever_failures_would_mean(on_error: RobotsOnError) -> None:
    assert robots_verdict(200, RobotsPolicy(on_error=on_error)).access is RULES


@pytest.mark.parametrize("status", [0, 200, 503])
def test_without_respect_for_robots_everything_is_allowed_and_says_so(status: int) -> None:
    verdict = robots_verdict(status, RobotsPolicy(respect=False))
    assert verdict.access is ALLOW
    assert "not respected" in verdict.meaning
