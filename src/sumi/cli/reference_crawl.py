"""The reference page of crawl configurations, made from the table of their keys."""

import msgspec

from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.config_file import DEFAULT_WORKSPACE
from sumi.jobs.pipeline.config_keys import KEYS, PERMISSIONS, SECTIONS, Key

_HEAD = """\
The keys of a crawl's YAML file, for `sumi crawl`, `sumi scrape`, `sumi run` and `sumi workspace`. The
[guide](../guides/crawl-configuration.md) says how they work together. Paths start at the workspace and stay
within it, and `{run_id}` in them stands for the name of the run."""

_WITHOUT = {"user_agent": "it has to be given", "run_id": "when the run starts"}


def crawl_configuration_page(notice: str) -> str:
    lines = ["# Crawl configuration", "", notice, "", _HEAD]
    for section in ("", *SECTIONS):
        title = f"`{section}`" if section else "Top level"
        lines += ["", f"## {title}", "", "| key | meaning | takes | default |", "| --- | --- | --- | --- |"]
        lines += [_row(key) for key in KEYS if key.section == section]
    return "\n".join(lines) + "\n"


def _row(key: Key) -> str:
    takes = f"a list, each item {key.kind.expects}" if key.kind.many else key.kind.expects
    cells = (f"`{key.dotted}`", key.help, takes, _default(key))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _default(key: Key) -> str:
    if key.is_path:
        others = "".join(f"; `{path}` for {backend}" for backend, path in key.for_backend)
        return f"`{key.default}`{others}"
    if key.dotted == "workspace":
        return f"`{DEFAULT_WORKSPACE}`"
    owner = SECTIONS[key.section] if key.section else CrawlConfig
    (field,) = (each for each in msgspec.structs.fields(owner) if each.name == key.name)
    return _shown(key, field.default)


def _shown(key: Key, value: object) -> str:
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    if key.kind is PERMISSIONS and isinstance(value, int):
        return f'`"0o{value:o}"`'
    if isinstance(value, float):
        return f"`{value:g}`"
    if value is msgspec.NODEFAULT:
        return _WITHOUT[key.name]
    return "none" if value in (None, ()) else f"`{value}`"
