"""YAML as its author sees it: every value is the text in the file, and knows its line.

The key decides what a text means, and not YAML: ``no`` is a word where a word is expected, and ``1:30`` is
never a number. Only what a configuration needs is read: mappings, lists and scalars, a few levels deep.
Anchors, aliases and tags are refused, so nothing can be expanded or constructed.
"""

from collections.abc import Iterator
from typing import Final

import yaml

from sumi.settings.config_file import ListNode, MappingNode, Node, ScalarNode

_DEEPEST: Final = 8
_MOST_VALUES: Final = 20_000  # takes a second to read
_SHOWN: Final = 40
_EMPTY: Final = frozenset({"", "~", "null", "Null", "NULL"})


class NotReadable(Exception):
    """The text is not YAML, or uses YAML features that are not supported here."""

    def __init__(self, line: int | None, what: str) -> None:
        self.line = line
        super().__init__(what)


def read_yaml(text: str) -> Node:
    """The only document of a text; an empty one is an empty mapping. Raises NotReadable."""
    # Event by event, so that unsupported features are refused before anything is built from them.
    events = _plain_events(text)
    try:
        node = _document(events)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise NotReadable(mark.line + 1 if mark else None, error.problem or "not valid YAML") from None
    except yaml.YAMLError as error:
        raise NotReadable(None, str(error).partition("\n")[0]) from None
    return node


def _document(events: Iterator[yaml.Event]) -> Node:
    first = next(events, None)
    node = MappingNode(1, []) if first is None else _node(first, events, 0)
    extra = next(events, None)
    if extra is not None:
        raise NotReadable(_line(extra), "a second document begins; use one document")
    return MappingNode(1, []) if isinstance(node, ScalarNode) and node.is_empty else node


def _plain_events(text: str) -> Iterator[yaml.Event]:
    values = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise NotReadable(
                _line(event), "anchors (&) and aliases (*) are not supported; write the value out"
            )
        if getattr(event, "tag", None) is not None:
            raise NotReadable(_line(event), f"the tag {event.tag[:_SHOWN]!r} is not supported; remove it")
        values += isinstance(event, yaml.NodeEvent)
        if values > _MOST_VALUES:
            raise NotReadable(
                _line(event), f"more than {_MOST_VALUES:,} values, too many for a configuration"
            )
        if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
            yield event


def _node(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Node:
    line = _line(event)
    if depth > _DEEPEST:
        raise NotReadable(line, f"nested deeper than {_DEEPEST} levels")
    if isinstance(event, yaml.SequenceStartEvent):
        return ListNode(line, list(_items(events, depth)))
    if isinstance(event, yaml.MappingStartEvent):
        return MappingNode(line, list(_pairs(events, depth)))
    assert isinstance(event, yaml.ScalarEvent)
    return ScalarNode(line, event.value, is_empty=event.implicit[0] and event.value in _EMPTY)


def _items(events: Iterator[yaml.Event], depth: int) -> Iterator[Node]:
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            return
        yield _node(event, events, depth + 1)


def _pairs(events: Iterator[yaml.Event], depth: int) -> Iterator[tuple[str, int, Node]]:
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            return
        key = _node(event, events, depth + 1)
        if not isinstance(key, ScalarNode):
            raise NotReadable(key.line, "a key must be a plain word")
        yield str(key.value), key.line, _node(next(events), events, depth + 1)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0
