"""Rules that change between runs are noticed; other settings are not rules."""

import msgspec

from sumi.engine.changed_rules import fingerprint_of
from sumi.model import Candidate
from sumi.policy import FollowLinks, Preset, TrapPolicy
from sumi.recipe import Recipe
from sumi.scope import build_scope

RECIPE = Recipe(
    "mirror", (Candidate("http://h.test/"),), Preset.MIRROR, build_scope(hosts=("h.test",)), "bot"
)


def test_the_fingerprint_follows_the_rules_and_nothing_else() -> None:
    same = msgspec.structs.replace(RECIPE, concurrency=3, max_pages=7, user_agent="other")
    narrower = msgspec.structs.replace(RECIPE, scope=build_scope(hosts=("h.test",), max_depth=2))
    linked = msgspec.structs.replace(RECIPE, follow_links=FollowLinks.NEVER)
    patient = msgspec.structs.replace(RECIPE, traps=TrapPolicy(segments=40))
    assert fingerprint_of(same) == fingerprint_of(RECIPE)
    assert len({fingerprint_of(recipe) for recipe in (RECIPE, narrower, linked, patient)}) == 4
