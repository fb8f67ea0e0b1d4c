"""The configuration file of a terrain map: read, checked as a whole, every mistake reported at once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from sumi.errors import ConfigError
from sumi.jobs.map.config import MapConfig
from sumi.jobs.map.config_keys import Keys, entries, sections
from sumi.policy import Preset
from sumi.scope.hosts import DomainClass, DomainClasses
from sumi.settings.toml_values import from_toml, read_toml, suggestion
from sumi.urls import normalize, split

Values: TypeAlias = dict[str, Any]  # what the file says, by the names of MapConfig's fields

_DEFAULT_OUTPUT: Final = {"database_path": "map.db", "summary_path": "map-summary.md"}


def load_map_config(path: Path) -> MapConfig:
    """Raises UsageError for a file that cannot be read, ConfigError with everything that is wrong in it."""
    document = read_toml(path, "configuration file")
    violations: list[str] = []
    known = sections(path.parent)
    lists = entries(allow_http=_allows_http(document))
    violations += _unknown(document, (*known, *lists), path)
    values: Values = {
        _field(name): _section(document, name, keys, path, violations) for name, keys in known.items()
    }
    values |= {name: _entries(document, name, keys, path, violations) for name, keys in lists.items()}
    violations += _contradictions(values, path)
    if violations:
        raise ConfigError(violations)
    values["output"] = {key: path.parent / name for key, name in _DEFAULT_OUTPUT.items()} | values["output"]
    return msgspec.convert(values, MapConfig)


def _allows_http(document: Mapping[str, object]) -> bool:
    http = document.get("http")
    return isinstance(http, dict) and http.get("allow-http") is True


def _unknown(document: Mapping[str, object], known: tuple[str, ...], path: Path) -> Iterator[str]:
    for name in document:
        if name not in known:
            yield f"{path}: [{name}] is not a section{suggestion(name, known)}"


def _section(
    document: Mapping[str, object], name: str, keys: Keys, path: Path, violations: list[str]
) -> Values:
    table = document.get(name, {})
    if isinstance(table, dict):
        return _table(keys, table, f"{path}: [{name}]", violations)
    violations.append(f"{path}: {name} must be a section, written [{name}]")
    return {}


def _entries(
    document: Mapping[str, object], name: str, keys: Keys, path: Path, violations: list[str]
) -> list[Values]:
    tables = document.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        violations.append(f"{path}: {name} must be sections, each written [[{name}]]")
        return []
    return [
        _table(keys, table, f"{path}: [[{name}]] number {number}:", violations)
        for number, table in enumerate(tables, 1)
    ]


def _table(keys: Keys, table: Mapping[str, object], where: str, violations: list[str]) -> Values:
    values: Values = {}
    for name, key in keys.items():
        if key.required and table.get(name) in (None, []):
            violations.append(
                f"{where} {name} is missing; it must be {_wanted(key.kind.expects, key.kind.many)}"
            )
    for name, value in table.items():
        if name not in keys:
            violations.append(f"{where} {name} is not a setting{suggestion(name, keys)}")
            continue
        try:
            values[_field(name)] = from_toml(keys[name].kind, value, f"{where} {name}")
        except ConfigError as error:
            violations += error.violations
    return values


def _wanted(expects: str, many: bool) -> str:
    return f"a list of at least one item, each {expects}" if many else expects


def _field(name: str) -> str:
    return name.replace("-", "_")


def _contradictions(values: Values, path: Path) -> Iterator[str]:
    """Between values that are each valid by themselves."""
    if not values["quality"]:
        yield f"{path}: there is no [[quality]] section; name at least one domain to explore"
    output = values["output"]
    if "database_path" in output and output["database_path"] == output.get("summary_path"):
        yield f"{path}: [output] database-path and summary-path are the same file; give each its own"
    yield from _stray_seeds(values, path)


def _stray_seeds(values: Values, path: Path) -> Iterator[str]:
    """Seeds that would never be visited, or from which the domain would not be explored."""
    patterns = {
        name: [entry["domain"] for entry in values[name] if "domain" in entry]
        for name in ("quality", "blacklist", "stub")
    }
    classes = DomainClasses(**patterns)
    for number, entry in enumerate(values["quality"], 1):
        where = f"{path}: [[quality]] number {number}: seeds:"
        for seed in entry.get("seeds", ()) if "domain" in entry else ():
            host = split(normalize(seed, Preset.MAP_WITH_HTTP) or seed).host  # with www. or without
            found = classes.classify(host)
            if found is DomainClass.BLACKLISTED or found is DomainClass.STUBBED:
                yield f"{where} {seed} is on a {found} domain, so it would never be visited; take one away"
            elif DomainClasses([entry["domain"]]).classify(host) is not DomainClass.QUALITY:
                yield f"{where} {seed} is not on {entry['domain']}; give it a [[quality]] section of its own"
