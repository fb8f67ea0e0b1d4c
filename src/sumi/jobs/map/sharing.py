"""A map that many machines work on: what its row in the database says, and its output. Each machine has the
whole map in its own folder once the job is over."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from sumi.assembly.shared_job import SharedJob, SharedRecipe, settings_of
from sumi.errors import UsageError
from sumi.jobs.map.beginning import DEFAULT_FOLDER, begin
from sumi.jobs.map.config import MapConfig, OutputConfig, load_map_config, map_table
from sumi.jobs.map.output import MapOutput
from sumi.jobs.map.store.assembling import Assembly, assemble
from sumi.ports import FrontierStats, Ledger
from sumi.settings.config_text import toml_text
from sumi.state.cluster.map_store import ClusterMapStore
from sumi.state.lock import FolderLock

KIND: Final = "map"
_HASH: Final = "config_hash"
# Of each machine: where it writes, whom it tells, whom it trusts.
_LOCAL: Final = frozenset({"output.database_path", "output.summary_path", "http.ca_file", "http.identity"})
_OWN_SECTIONS: Final = ("output", "webhooks")
_HEAD: Final = """\
The map of the job {job}, which this machine took from the database. To go on with it: sumi worker.
Lines that begin with # are what applies without them. Paths start at this file's folder."""


def shared_map(config: MapConfig, state: str, name: str | None, *, joins: bool) -> SharedJob:
    recipe = None if joins else SharedRecipe(dict(_stored(config)))
    return SharedJob(state, name or config.quality[0].domain.removeprefix("*."), KIND, recipe)


def refuse_what_is_not_shared(config: MapConfig) -> None:
    if config.content.keep:
        raise UsageError("[content] keep is for a map on one machine: one in a database keeps no pages")
    if config.crawler.max_pages_under:
        raise UsageError(
            "max-pages-under is for a map on one machine, which has to count: leave it out of a map in a "
            "database"
        )


def _stored(config: MapConfig) -> Iterator[tuple[str, msgspec.Raw]]:
    yield _HASH, msgspec.Raw(msgspec.json.encode(config.config_hash))
    http = msgspec.structs.replace(config.http, ca_file=None, identity=None)
    for field in msgspec.structs.fields(config):
        value = http if field.name == "http" else getattr(config, field.name)
        if field.name not in _OWN_SECTIONS and value != field.default:
            yield field.name, msgspec.Raw(msgspec.json.encode(value))


def config_for_worker(recipe: SharedRecipe, name: str, own: Mapping[str, object]) -> MapConfig:
    """``own``: settings of this machine, by field. Its folder gets a file that says what it has a map of."""
    values: dict[str, Any] = settings_of(recipe, {}, name)
    values.pop(_HASH, None)
    folder = Path(str(own.get("output", DEFAULT_FOLDER)))
    values["output"] = OutputConfig(folder / "map.db", folder / "map-summary.md")
    values["http"] = {
        **values.get("http", {}),
        **{field: own[field] for field in ("ca_file", "identity", "shared_pace") if field in own},
    }
    config = msgspec.convert(values, MapConfig)
    path = begin(folder, text_of(config, name))
    return msgspec.structs.replace(config, output=load_map_config(path).output)


def text_of(config: MapConfig, job: str) -> str:
    table = map_table(allow_http=True)
    values: dict[str, object] = {
        name: [msgspec.to_builtins(entry) for entry in getattr(config, name)]
        for name in ("quality", "blacklist", "stub")
    }
    for setting in table:
        if setting.repeated or setting.section in _OWN_SECTIONS:
            continue
        value = getattr(getattr(config, setting.section.replace("-", "_")), setting.field)
        if value not in (None, ()) and value != setting.default:
            values[setting.path] = value
    return toml_text(_HEAD.format(job=job), table, values, ())


class SharedMapOutput(MapOutput):
    """The pages are in the database until the run ends; then all of them are taken from there."""

    def __init__(self, store: ClusterMapStore, to: Assembly, lock: FolderLock) -> None:
        super().__init__(to.database, None)
        self._store = store
        self._to = to
        self._lock = lock

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        self._store.final_waits = await assemble(self._to, self._store.reader, self._lock)
