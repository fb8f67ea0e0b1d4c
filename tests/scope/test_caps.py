"""Pages count by what their path says, however it is written."""

from sumi.outcomes import Outcome
from sumi.scope.caps import CapLedger, CapPolicy
from sumi.scope.profiles import ProfileName


def test_a_repository_is_one_however_its_name_is_escaped() -> None:
    ledger = CapLedger(CapPolicy(ProfileName.GITHUB, pages=1))
    assert ledger.admits("https://github.com/owner/repo/issues") is None
    refused = ledger.admits("https://github.com/own%65r/%72epo/pulls")
    assert refused is not None
    assert (refused.outcome, refused.rule) == (Outcome.OVER_QUOTA, "owner/repo has its 1 pages")
