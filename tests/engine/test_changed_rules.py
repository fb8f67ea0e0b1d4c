"""Rules that change between runs are noticed; other settings are not rules."""

from functools import partial
from pathlib import Path

import msgspec
import pytest

from sumi.engine.changed_rules import fingerprint_of
from sumi.model import Candidate
from sumi.policy import FollowLinks, Preset, TrapPolicy
from sumi.recipe import Recipe
from sumi.scope import build_scope
from sumi.state.journal import FilesStore
from tests.engine.world import UNPACED, Answer, crawled, recipe_for, web_of

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


@pytest.mark.parametrize(("before", "after"), [("blacklist", "stub"), ("stub", "blacklist")])
def test_a_domain_that_is_refused_in_another_way_now_is_recorded_so(
    tmp_path: Path, before: str, after: str
) -> None:
    web = web_of({"https://a.test/": Answer(links=("https://b.test/x",))})
    names = {"blacklist": "blacklisted", "stub": "stubbed"}
    for refused in (before, after):
        scope = msgspec.structs.replace(build_scope(hosts=("*.test",)), **{refused: ("b.test",)})
        recipe = msgspec.structs.replace(recipe_for(["https://a.test/"], pacing=UNPACED), scope=scope)
        world = crawled(web, recipe, open_store=partial(FilesStore, tmp_path))
        assert world.outcomes["https://b.test/x"] == names[refused]
