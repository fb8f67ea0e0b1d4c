"""A mirror that many machines work on: what its row in the database says, and what each machine decides."""

from collections.abc import Mapping
from typing import Final

import msgspec

from sumi.assembly.shared_job import SharedJob, SharedRecipe, settings_of, shared_recipe
from sumi.jobs.mirror.recipe import mirror_home
from sumi.jobs.mirror.settings import SETTINGS, MirrorSettings
from sumi.settings.setting import OPERATING
from sumi.settings.sources import SECRET

KIND: Final = "mirror"
# What each machine decides for itself: where it writes, its number of processes, how it is operated.
LOCAL: Final = frozenset(
    {
        *("output", "fresh", "update", "state", "job", "warc", "replay", "replay_unlinked", "identity"),
        "seen_memory",
        *("index", "processes", "min_free", "browser", "ca_file", "shared_pace"),
        *(setting.field for setting in SETTINGS if setting.group == OPERATING),
    }
)


def shared_mirror(settings: MirrorSettings, *, joins: bool) -> SharedJob:
    assert settings.state is not None
    name = settings.job or mirror_home(settings)
    recipe = None if joins else shared_recipe(settings, LOCAL, SECRET)
    return SharedJob(settings.state, name, KIND, recipe, settings.store, settings.seen_memory)


def settings_for_worker(
    recipe: SharedRecipe, address: str, name: str, own: Mapping[str, object]
) -> MirrorSettings:
    """``own``: settings of this machine, by field, those from its environment included."""
    values = {**settings_of(recipe, own, name), "state": address, "job": name}
    return msgspec.convert(values, MirrorSettings)
