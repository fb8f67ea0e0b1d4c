"""A configuration file, TOML or YAML, read by a table of settings.

All mistakes are reported at once, each with the file, the line, the key, its value, what it should be, and
the setting that may have been meant.
"""

import os.path
import tomllib
from collections import defaultdict
from collections.abc import Container, Iterable
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from sumi.errors import ConfigError, UsageError
from sumi.settings.kinds import Kind, complaint, from_scalar, parsed, suggestion
from sumi.settings.setting import Setting

# People write configuration files; anything larger is another file given by mistake.
MAX_TOML_BYTES: Final = 1024 * 1024
MAX_YAML_BYTES: Final = 256 * 1024  # takes a second to read
# Sections, entries, keys and list items: no setting has values that are nested deeper.
_DEEPEST: Final = 4
_MOST_NUMBERED: Final = 64 * 1024  # characters; in longer files, mistakes are reported without their lines


class ScalarNode(msgspec.Struct, frozen=True):
    line: int  # 0: unknown
    value: object
    is_typed: bool = False  # by the format; otherwise ``value`` is the text in the file
    is_empty: bool = False  # null, or no value at all


class ListNode(msgspec.Struct, frozen=True):
    line: int
    items: list["Node"]


class MappingNode(msgspec.Struct, frozen=True):
    """Pairs as written: a key may occur twice."""

    line: int
    pairs: list[tuple[str, int, "Node"]]  # key, its line, value


Node: TypeAlias = ScalarNode | ListNode | MappingNode
Values: TypeAlias = dict[str, Any]
TomlPath: TypeAlias = tuple[str | int, ...]  # keys, and numbers of list items


def toml_file(path: Path, argument: str = "configuration file") -> "ConfigFile":
    """``argument``: how the user gave the file, for the message that it cannot be read."""
    text = _text_of(path, argument, MAX_TOML_BYTES)
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError([f"{path}: not valid TOML: {error}"]) from None
    root = _toml_node(values, _toml_lines(text))
    assert isinstance(root, MappingNode)
    return ConfigFile(path, root, bracketed=True)


def yaml_file(path: Path, argument: str = "configuration file") -> "ConfigFile":
    from sumi.settings.yaml_nodes import NotReadable, read_yaml  # a tenth of a second that TOML does not need

    text = _text_of(path, argument, MAX_YAML_BYTES)
    try:
        root = read_yaml(text)
    except NotReadable as error:
        raise ConfigError([_sentence(path, error.line or 0, f"not readable: {error}")]) from None
    if not isinstance(root, MappingNode):
        words = "must be keys with values, such as profile: github"
        raise ConfigError([_sentence(path, root.line, words)])
    return ConfigFile(path, root, bracketed=False)


class ConfigFile:
    """The content of a file and its mistakes. Jobs add mistakes of their own, then call ``refuse``."""

    def __init__(self, path: Path, root: MappingNode, *, bracketed: bool) -> None:
        self._path = path
        self._root = root
        self._bracketed = bracketed  # sections are written [section]; otherwise keys are dotted
        self._mistakes: list[tuple[int, str]] = []
        self._lines: dict[str, int] = {}  # by dotted key, as written
        self._folder: Path | None = None

    def peek(self, section: str, key: str) -> object:
        """The value, before anything is checked."""
        inner = dict(_pairs(self._root)).get(section)
        node = dict(_pairs(inner)).get(key) if isinstance(inner, MappingNode) else None
        return node.value if isinstance(node, ScalarNode) else None

    def read(self, table: Iterable[Setting], under: str = "", folder: Path | None = None) -> Values:
        """Values by field, or by ``section.field`` if the table has sections; a repeated section is a list.

        ``under``: the section of settings without one. Relative paths start at ``folder``, if it is given.
        """
        self._folder = folder
        sections: dict[str, dict[str, Setting]] = defaultdict(dict)
        for setting in table:
            sections[setting.section or under][setting.name] = setting
        top = sections.pop("", {})
        values: Values = {}
        for name, node in self._entries(self._root, "").items():
            if name in sections:
                values |= self._section(name, node, sections[name])
            elif name in top:
                values |= self._value(top[name], node, name)
            else:
                self._complain(self._lines[name], self._unknown(name, top, sections))
        for name, known in sections.items():
            if name not in self._lines and not _is_repeated(known):
                self._report_missing(known, set(), name)
        self._report_missing(top, self._lines.keys(), "")
        return values

    def complain(self, words: str, at: str = "") -> None:
        """``at``: a dotted key, for the line."""
        self._complain(self._lines.get(at, 0), words)

    @property
    def is_sound(self) -> bool:
        return not self._mistakes

    def refuse(self) -> None:
        """Raises ConfigError with all mistakes, if there are any."""
        if self._mistakes:
            found = sorted(self._mistakes, key=lambda mistake: mistake[0])
            raise ConfigError([_sentence(self._path, line, words) for line, words in found])

    # ── sections ───────────────────────────────────────────────────────────────────────────────────────

    def _section(self, name: str, node: Node, known: dict[str, Setting]) -> Values:
        if _is_repeated(known):
            return {_field(name): self._repeated(name, node, known)}
        if isinstance(node, ScalarNode) and node.is_empty:
            self._report_missing(known, set(), name)
            return {}
        if not isinstance(node, MappingNode):
            how = f", written [{name}]" if self._bracketed else ": its settings indented below it"
            self._complain(node.line, f"{name} must be a section{how}")
            return {}
        return self._settings(name, node, known, self._spelled(name))

    def _repeated(self, name: str, node: Node, known: dict[str, Setting]) -> list[Values]:
        entries = node.items if isinstance(node, ListNode) else [node]
        if not isinstance(node, ListNode) or not all(isinstance(each, MappingNode) for each in entries):
            how = f"sections, each written [[{name}]]" if self._bracketed else "a list of sections"
            self._complain(node.line, f"{name} must be {how}")
            return []
        return [
            self._settings(name, entry, known, self._spelled(name, number))
            for number, entry in enumerate(entries, 1)
            if isinstance(entry, MappingNode)
        ]

    def _settings(self, section: str, node: MappingNode, known: dict[str, Setting], where: str) -> Values:
        values: Values = {}
        entries = self._entries(node, f"{section}.")
        for name, below in entries.items():
            if name in known:
                values |= self._value(known[name], below, where + name)
            else:
                line = self._lines[f"{section}.{name}"]
                self._complain(line, f"{where}{name} is not a setting{suggestion(name, known)}")
        empty = {name for name, below in entries.items() if isinstance(below, ListNode) and not below.items}
        self._report_missing(known, entries.keys() - empty, section, where, node.line)
        return values

    def _entries(self, node: MappingNode, prefix: str) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for key, line, below in node.pairs:
            dotted = prefix + key
            if key in found:
                self._complain(line, f"{dotted} is already set in line {self._lines[dotted]}")
                continue
            self._lines[dotted] = line
            found[key] = below
        return found

    # ── values ─────────────────────────────────────────────────────────────────────────────────────────

    def _value(self, setting: Setting, node: Node, where: str) -> Values:
        """Empty if the value cannot be used."""
        before = len(self._mistakes)
        kind = setting.kind
        value = self._list(kind, node, where) if kind.many else self._scalar(kind, node, where)
        repeated_or_flat = setting.repeated or not setting.section
        key = setting.field if repeated_or_flat else f"{_field(setting.section)}.{setting.field}"
        return {key: value} if len(self._mistakes) == before else {}

    def _list(self, kind: Kind, node: Node, where: str) -> tuple[object, ...]:
        if isinstance(node, ScalarNode) and node.is_empty:
            return ()  # a list whose items were all removed
        if not isinstance(node, ListNode):
            shown = node.value if isinstance(node, ScalarNode) else "a section"
            self._complain(node.line, complaint(where, shown, f"a list, each item {kind.expects}"))
            return ()
        return tuple(self._scalar(kind, item, where) for item in node.items)

    def _scalar(self, kind: Kind, node: Node, where: str) -> object:
        if not isinstance(node, ScalarNode):
            self._complain(node.line, f"{where} must be {kind.expects}, not a list or a section")
        elif node.is_empty:
            self._complain(node.line, f"{where} is empty, but must be {kind.expects}")
        else:
            try:
                return self._parsed(kind, node, where)
            except UsageError as error:
                self._complain(node.line, str(error))
        return None

    def _parsed(self, kind: Kind, node: ScalarNode, where: str) -> object:
        value = node.value
        if kind.is_path and self._folder is not None and isinstance(value, str) and value.strip():
            return parsed(kind, os.path.join(self._folder, os.path.expanduser(value)), where, shown=value)
        return from_scalar(kind, value, where) if node.is_typed else parsed(kind, str(value), where)

    # ── words ──────────────────────────────────────────────────────────────────────────────────────────

    def _spelled(self, section: str, number: int = 0) -> str:
        """The prefix of a setting's name in a message."""
        if not self._bracketed:
            return f"{section}." if not number else f"{section} number {number}: "
        return f"[{section}] " if not number else f"[[{section}]] number {number}: "

    def _unknown(self, name: str, top: Iterable[str], sections: Iterable[str]) -> str:
        known = [*top, *sections]
        if not self._bracketed:
            return f"{name} is neither a setting nor a section{suggestion(name, known)}"
        hint = f"; settings go under [{known[0]}]" if len(known) == 1 else suggestion(name, known)
        return f"[{name}] is not a section{hint}"

    def _report_missing(
        self, known: dict[str, Setting], given: Iterable[str], section: str, where: str = "", line: int = 0
    ) -> None:
        prefix = where or (self._spelled(section) if section else "")
        present = set(given)
        for name, setting in known.items():
            if setting.required and name not in present:
                expects = setting.kind.expects
                wanted = f"a list of at least one item, each {expects}" if setting.kind.many else expects
                self._complain(line, f"{prefix}{name} is missing; it must be {wanted}")

    def _complain(self, line: int, words: str) -> None:
        self._mistakes.append((line, words))


def nested(values: Values) -> Values:
    """``{"limits.max_retries": 3}`` as ``{"limits": {"max_retries": 3}}``."""
    found: Values = {}
    for key, value in values.items():
        section, _, name = key.rpartition(".")
        (found.setdefault(section, {}) if section else found)[name] = value
    return found


def _text_of(path: Path, argument: str, most: int) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise UsageError(f"{argument} {str(path)!r} cannot be read: {reason}") from None
    if len(raw) > most:
        limit = f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB"
        raise ConfigError([f"{path}: larger than {limit}: not a configuration file?"])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError([f"{path}: not valid UTF-8"]) from None


def _toml_node(value: object, lines: dict[TomlPath, int], at: TomlPath = (), line: int = 0) -> Node:
    line = lines.get(at, line)
    if len(at) < _DEEPEST and isinstance(value, dict):
        below = ((key, _toml_node(inner, lines, (*at, key), line)) for key, inner in value.items())
        return MappingNode(line, [(key, node.line, node) for key, node in below])
    if len(at) < _DEEPEST and isinstance(value, list):
        return ListNode(line, [_toml_node(item, lines, (*at, n), line) for n, item in enumerate(value)])
    return ScalarNode(line, value, is_typed=True)


def _toml_lines(text: str) -> dict[TomlPath, int]:
    """Where sections and keys begin, which tomllib does not say. Every statement of valid TOML is valid by
    itself, and no beginning of a statement of several lines is: so a statement ends where it first parses."""
    if len(text) > _MOST_NUMBERED:
        return {}
    found: dict[TomlPath, int] = {}
    section: TomlPath = ()
    statement, first = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        statement += f"{line}\n"
        try:
            parsed = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        if statement.lstrip().startswith("["):
            section = _section_path(parsed, found)
            found[section] = first
        elif parsed:
            found[*section, next(iter(parsed))] = first
        statement, first = "", number + 1
    return found


def _section_path(header: dict[str, Any], known: Container[TomlPath]) -> TomlPath:
    """The path of ``[section]``, or of the next ``[[section]]``."""
    name, inner = next(iter(header.items()))
    if isinstance(inner, dict):
        return (name, *_section_path(inner, ())) if inner else (name,)
    return next((name, n) for n in count() if (name, n) not in known)


def _pairs(node: MappingNode) -> list[tuple[str, Node]]:
    return [(key, below) for key, _, below in node.pairs]


def _is_repeated(known: dict[str, Setting]) -> bool:
    return any(setting.repeated for setting in known.values())


def _field(name: str) -> str:
    return name.replace("-", "_")


def _sentence(path: Path, line: int, words: str) -> str:
    return f"{path}, line {line}: {words}" if line else f"{path}: {words}"
