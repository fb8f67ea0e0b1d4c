"""A crawl configuration from its YAML file: read, checked as a whole, every mistake told with its line."""

import os.path
import re
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeAlias

from sumi.errors import ConfigError, UsageError
from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.config_keys import KEYS, RUN_ID, RUN_ID_FIELD, SECTIONS, Key, keys_of, path_pattern
from sumi.jobs.pipeline.config_rules import contradictions
from sumi.scope.profiles import ProfileName
from sumi.settings.kinds import FILE
from sumi.settings.toml_values import complaint, parsed, suggestion
from sumi.settings.yaml_lines import Mapping, Node, NotReadable, Scalar, Sequence, read_yaml

# Written by a person: room for thousands of hosts or patterns, and read in a second at the worst.
MAX_BYTES: Final = 256 * 1024
DEFAULT_WORKSPACE: Final = "workspace"
GITHUB_HOSTS: Final = ("github.com",)
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")

Values: TypeAlias = dict[str, Any]  # by dotted key


def load_crawl_config(path: Path, run_id: str) -> CrawlConfig:
    """``run_id`` names this run unless the file does. Raises UsageError for a file that cannot be read,
    ConfigError with everything that is wrong in it."""
    if not RUN_ID.fullmatch(run_id):
        raise UsageError(f"the run id {run_id!r} must be letters, digits, dots and hyphens")
    return _Reading(path).config(run_id)


class _Reading:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._complaints: list[tuple[int, str]] = []
        self._lines: dict[str, int] = {}

    def config(self, run_id: str) -> CrawlConfig:
        values = self._document(_text_of(self._path))
        if "user_agent" not in values and "user_agent" not in self._lines:
            self._complain(
                0, "user_agent is missing; say who you are, such as mybot/1.0 (+https://example.org)"
            )
        values.setdefault("run_id", run_id)
        values.setdefault("profile", ProfileName.GITHUB)
        if values["profile"] is ProfileName.GITHUB and not values.get("scope.allowed_hosts"):
            values["scope.allowed_hosts"] = GITHUB_HOSTS
        self._resolve_paths(values)
        for key, words in contradictions(values):
            self._complain(self._lines.get(key, 0), words)
        if self._complaints:
            raise ConfigError([self._sentence(*each) for each in sorted(self._complaints)])
        return _structured(values)

    # ── what stands where ──────────────────────────────────────────────────────────────────────────────

    def _document(self, text: str) -> Values:
        try:
            root = read_yaml(text)
        except NotReadable as error:
            raise ConfigError([self._sentence(error.line or 0, f"not readable: {error}")]) from None
        if not isinstance(root, Mapping):
            raise ConfigError(
                [self._sentence(root.line, "must be keys with values, such as profile: github")]
            )
        values: Values = {}
        top = keys_of("")
        for name, node in self._entries(root, "").items():
            if name in SECTIONS:
                values |= self._section(name, node)
            elif name in top:
                self._take(top[name], node, values)
            else:
                hint = suggestion(name, (*top, *SECTIONS))
                self._complain(self._lines[name], f"{name} is neither a setting nor a section{hint}")
        return values

    def _section(self, section: str, node: Node) -> Values:
        values: Values = {}
        if isinstance(node, Scalar) and node.empty:
            return values
        if not isinstance(node, Mapping):
            self._complain(node.line, f"{section} must be a section: its settings indented below it")
            return values
        known = keys_of(section)
        for name, below in self._entries(node, f"{section}.").items():
            if name in known:
                self._take(known[name], below, values)
            else:
                line = self._lines[f"{section}.{name}"]
                self._complain(line, f"{section}.{name} is not a setting{suggestion(name, known)}")
        return values

    def _entries(self, mapping: Mapping, prefix: str) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for key, node in mapping.pairs:
            dotted = prefix + key.text
            if key.text in found:
                self._complain(key.line, f"{dotted} stands in line {self._lines[dotted]} already")
                continue
            self._lines[dotted] = key.line
            found[key.text] = node
        return found

    # ── what it means ──────────────────────────────────────────────────────────────────────────────────

    def _take(self, key: Key, node: Node, values: Values) -> None:
        before = len(self._complaints)
        value = self._list(key, node) if key.kind.many else self._scalar(key, node)
        if len(self._complaints) == before:
            values[key.dotted] = value

    def _list(self, key: Key, node: Node) -> tuple[object, ...]:
        if isinstance(node, Scalar) and node.empty:
            return ()  # all of its items were taken out
        if not isinstance(node, Sequence):
            self._complain(node.line, f"{key.dotted} must be a list, each item {key.kind.expects}")
            return ()
        return tuple(self._scalar(key, item) for item in node.items)

    def _scalar(self, key: Key, node: Node) -> object:
        if not isinstance(node, Scalar):
            self._complain(node.line, f"{key.dotted} must be {key.kind.expects}, not a list or a section")
            return None
        if node.empty:
            self._complain(node.line, f"{key.dotted} is empty, but must be {key.kind.expects}")
            return None
        text = node.text
        if key.kind is FILE:
            text = str(self._path.parent / os.path.expanduser(text))
        try:
            return parsed(key.kind, text, key.dotted)
        except UsageError as error:
            self._complain(node.line, str(error))
            return None

    # ── paths ──────────────────────────────────────────────────────────────────────────────────────────

    def _resolve_paths(self, values: Values) -> None:
        written = os.path.expanduser(values.get("workspace", DEFAULT_WORKSPACE))
        home = Path(os.path.abspath(self._path.parent / written))
        values["workspace"] = home
        values["patterns"] = {}
        for key in (key for key in KEYS if key.is_path):
            text = values.get(key.dotted) or _default_path(key, values)
            place = self._resolved(key, text, home, PurePosixPath(written))
            within = os.path.relpath(place, home)
            values["patterns"][key.dotted] = path_pattern(within)
            values[key.dotted] = home / within.replace(RUN_ID_FIELD, values["run_id"])

    def _resolved(self, key: Key, text: str, home: Path, written: PurePosixPath) -> Path:
        line = self._lines.get(key.dotted, 0)
        for name in _PLACEHOLDER.findall(text):
            if name != "run_id":
                self._complain(line, f"{key.dotted} has {{{name}}}, but only {{run_id}} stands for something")
        relative = PurePosixPath(text)
        if not written.is_absolute() and relative.is_relative_to(written):
            relative = relative.relative_to(written)  # "workspace/logs" for what "logs" says as well
        place = Path(os.path.normpath(home / relative))
        if place == home or not place.is_relative_to(home):
            self._complain(line, complaint(key.dotted, text, f"a path within the workspace {home}"))
        return place

    # ── words ──────────────────────────────────────────────────────────────────────────────────────────

    def _complain(self, line: int, words: str) -> None:
        self._complaints.append((line, words))

    def _sentence(self, line: int, words: str) -> str:
        return f"{self._path}, line {line}: {words}" if line else f"{self._path}: {words}"


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise UsageError(f"configuration file {str(path)!r} cannot be read: {reason}") from None
    if len(raw) > MAX_BYTES:
        raise ConfigError([f"{path}: larger than {MAX_BYTES // 1024} KiB: not a configuration file?"])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError([f"{path}: not valid UTF-8"]) from None


def _default_path(key: Key, values: Values) -> str:
    backend = values.get(f"{key.section}.backend", "")
    return dict(key.for_backend).get(backend, key.default)


def _structured(values: Values) -> CrawlConfig:
    top = {name: value for name, value in values.items() if "." not in name}
    sections = {
        section: make(
            **{name: values[key.dotted] for name, key in keys_of(section).items() if key.dotted in values}
        )
        for section, make in SECTIONS.items()
    }
    return CrawlConfig(**top, **sections)  # type: ignore[arg-type]
