"""The rules of a robots.txt for one crawler, arranged so that a decision takes microseconds.

Rules without a star are found by hashing prefixes of the path, longest first. Rules with stars are tried only
if the text before their first star matches, longest first, and only while they could still win.

Paths of rules and of URLs are normalized before they are compared. Two spellings of the same octet are equal:
``%7E`` and ``~``, a raw ``é`` and ``%C3%A9``. Reserved characters are not: ``%2F`` is not ``/``. In a URL,
``*`` and ``$`` become ``%2A`` and ``%24``, so that they never match the special characters of a rule.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# All but unreserved characters and the reserved ones that have no meaning in robots.txt.
_TO_RESPELL = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~:/?#\[\]@!&'()+,;=-]")


def comparable_path(path_and_query: str) -> str:
    """A URL's path and query, normalized for comparison with rules; always begins with a slash."""
    octets = path_and_query
    if not octets.isascii():
        octets = octets.encode("utf-8", "surrogatepass").decode("latin-1")
    spelled = _TO_RESPELL.sub(_respell, octets)
    return spelled if spelled[:1] == "/" else "/" + spelled


def _respell(found: re.Match[str]) -> str:
    text = found[0]
    if len(text) == 1:
        return f"%{ord(text):02X}"
    character = chr(int(text[1:], 16))
    return character if character in _UNRESERVED else text.upper()


class Pattern(NamedTuple):
    """A rule's path: literal pieces with anything in between.

    ``middle`` are the pieces that must follow ``head``, in order. If ``anchored``, the path must end with
    ``tail``, after all of them.
    """

    head: str
    middle: tuple[str, ...]
    tail: str
    anchored: bool
    starred: bool
    octets: int  # total length, with stars and anchor: the longest match wins

    @property
    def longest_piece(self) -> str:
        """After the head. A path without it cannot match."""
        return max((*self.middle, self.tail), key=len)

    def matches_behind_head(self, path: str) -> bool:
        """Whether a path that begins with ``head`` matches. The leftmost finds suffice: no backtracking."""
        at = len(self.head)
        for piece in self.middle:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return not self.anchored or (len(path) - len(self.tail) >= at and path.endswith(self.tail))


def parse_pattern(value: bytes) -> Pattern | None:
    """None if the value can match no path: it is empty, or begins with neither slash nor star."""
    if value[:1] not in (b"/", b"*"):
        return None
    anchored = value.endswith(b"$")
    text = value.decode("latin-1")
    pieces = [_TO_RESPELL.sub(_respell, piece) for piece in text[: len(text) - anchored].split("*")]
    head, *rest = pieces
    tail = rest.pop() if rest and anchored else ""
    return Pattern(
        head=head,
        middle=tuple(piece for piece in rest if piece),
        tail=tail,
        anchored=anchored,
        starred=len(pieces) > 1,
        octets=sum(map(len, pieces)) + len(pieces) - 1 + anchored,
    )


# Each rule with a star may cost a pass over the path. The largest real files have some hundreds.
MAX_STARRED_RULES = 1000
# A rule is quoted in records and on terminals.
_MAX_QUOTED = 200


class RobotsDecision(msgspec.Struct, frozen=True, gc=False):
    allowed: bool
    rule: str = ""  # the line that decided, "Disallow: /private"; "" if none applied


class RuleLine(NamedTuple):
    """An Allow or Disallow line as written."""

    allowed: bool
    value: bytes


class _Rule(NamedTuple):
    rank: int  # longer before shorter, Allow before Disallow of the same length
    needle: str  # a path without it cannot match: the cheapest test
    pattern: Pattern
    decision: RobotsDecision


_ALLOWED = RobotsDecision(allowed=True)


class RobotsRules:
    """The rules for one crawler on one host. ``agent``: the name of their group, ``*``, "" for no rules."""

    def __init__(
        self,
        lines: Iterable[RuleLine] = (),
        agent: str = "",
        crawl_delay: float | None = None,
        content_signals: tuple[str, ...] = (),
    ) -> None:
        self.agent = agent
        self.crawl_delay = crawl_delay  # seconds, finite, not negative
        self.content_signals = content_signals
        self._prefixes: dict[str, _Rule] = {}
        self._whole_paths: dict[str, _Rule] = {}
        self._starred: dict[str, list[_Rule]] = {}  # by the text before the first star
        # Highest rank first: among rules with the same text, that one counts.
        self._arrange(sorted(dict.fromkeys(_rules(lines)), key=_rank, reverse=True))
        self._prefix_lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._head_lengths = sorted({len(head) for head in self._starred}, reverse=True)

    def _arrange(self, rules: list[_Rule]) -> None:
        starred = []
        for rule in rules:
            if rule.pattern.starred:
                starred.append(rule)
            else:
                plain = self._whole_paths if rule.pattern.anchored else self._prefixes
                plain.setdefault(rule.pattern.head, rule)
        for rule in starred[:MAX_STARRED_RULES] + _widened(starred[MAX_STARRED_RULES:]):
            self._starred.setdefault(rule.pattern.head, []).append(rule)

    def decide(self, path_and_query: str) -> RobotsDecision:
        """May this path (with its query, without fragment) be fetched, and which line says so?"""
        path = comparable_path(path_and_query)
        if path == "/robots.txt":
            return _ALLOWED
        plain = self._best_plain(path)
        if plain is None:
            return self._best_starred(path, 0) or _ALLOWED
        return self._best_starred(path, plain.rank) or plain.decision

    def _best_plain(self, path: str) -> _Rule | None:
        whole = self._whole_paths.get(path)
        if whole is not None:
            return whole  # longer than any prefix: its anchor counts
        for length in self._prefix_lengths:
            rule = self._prefixes.get(path[:length])
            if rule is not None:
                return rule
        return None

    def _best_starred(self, path: str, rank_to_beat: int) -> RobotsDecision | None:
        best = None
        for length in self._head_lengths:
            if length > len(path):
                continue
            for rank, needle, pattern, decision in self._starred.get(path[:length], ()):
                if rank <= rank_to_beat:
                    break
                if needle in path and pattern.matches_behind_head(path):
                    best, rank_to_beat = decision, rank
                    break
        return best


def _rules(lines: Iterable[RuleLine]) -> Iterable[_Rule]:
    for line in lines:
        pattern = parse_pattern(line.value)
        if pattern is not None:
            rank = 2 * pattern.octets + line.allowed
            yield _Rule(rank, pattern.longest_piece, pattern, RobotsDecision(line.allowed, _quoted(line)))


def _rank(rule: _Rule) -> int:
    return rule.rank


def _widened(rules: list[_Rule]) -> list[_Rule]:
    """Rules beyond the limit, read strictly: Disallow denies whatever begins with its head, Allow is ignored.

    One per head is left, the highest in rank, and it costs nothing to match.
    """
    denials: dict[str, _Rule] = {}
    for rule in rules:
        if not rule.decision.allowed:
            wide = rule.pattern._replace(middle=(), tail="", anchored=False)
            denials.setdefault(wide.head, rule._replace(needle="", pattern=wide))
    return list(denials.values())


def _quoted(line: RuleLine) -> str:
    value = line.value.decode("utf-8", "replace")[:_MAX_QUOTED]
    if not value.isprintable():
        value = "".join(character if character.isprintable() else "\ufffd" for character in value)
    return f"{'Allow' if line.allowed else 'Disallow'}: {value}"
