"""A whole robots.txt: what its status means, its groups, and which of them address a given crawler."""

import math
import re
from enum import StrEnum

import msgspec

from sumi.policy import RobotsOnError, RobotsPolicy
from sumi.robots.lines import Field, Line, meaningful_lines
from sumi.robots.rules import RobotsRules, RuleLine

EVERYONE = "*"

_TOKEN = re.compile(r"[A-Za-z_-]*")
# "Mozilla/5.0 (compatible; name/1.0; +url)": browsers' armour around the name that robots.txt would use.
_DISGUISED = re.compile(r"mozilla/[^(]{0,40}\(compatible;\s*([a-z_-]+)", re.IGNORECASE)


def product_token(user_agent: str) -> str:
    """The product token of a User-Agent header: ``sumi`` for ``sumi/0.1 (+url; mail)``. May be empty."""
    disguised = _DISGUISED.match(user_agent)
    return disguised[1] if disguised else _leading_token(user_agent.lstrip())


def named_agent(value: str) -> str:
    """Whom a User-agent line speaks to, in lower case: a token, ``*``, or "" for nobody that could exist.

    What follows the token (a version, more words) is ignored, as Google's parser does.
    """
    if value[:1] == EVERYONE and not value[1:2].strip():
        return EVERYONE
    return _leading_token(value).lower()


def _leading_token(text: str) -> str:
    found = _TOKEN.match(text)
    return found[0] if found else ""


class RobotsAccess(StrEnum):
    RULES = "rules"  # read the body and obey it
    ALLOW_ALL = "allow all"
    DENY_ALL = "deny all"  # for now: ask again later


class RobotsVerdict(msgspec.Struct, frozen=True):
    access: RobotsAccess
    meaning: str  # for people: "everything allowed (404)"


def robots_verdict(status: int, policy: RobotsPolicy) -> RobotsVerdict:
    """Judge a final answer; ``status`` 0 is no answer, 3xx a redirect that was not followed any further.

    RFC 9309 calls a client error "unavailable", which allows, and a server error or silence "unreachable",
    which denies. 429 is a client error by number only: the server is there and asks for less.
    """
    if not policy.respect:
        return RobotsVerdict(RobotsAccess.ALLOW_ALL, "everything allowed (robots.txt is not respected)")
    if 200 <= status < 300:
        return RobotsVerdict(RobotsAccess.RULES, "rules apply")
    if _denies(status, policy.on_error):
        return RobotsVerdict(RobotsAccess.DENY_ALL, f"nothing allowed ({_named(status)})")
    return RobotsVerdict(RobotsAccess.ALLOW_ALL, f"everything allowed ({_named(status)})")


def _denies(status: int, on_error: RobotsOnError) -> bool:
    if on_error is RobotsOnError.RFC9309:
        return status == 429 or not 300 <= status < 500
    return on_error is RobotsOnError.DENY


def _named(status: int) -> str:
    if status == 0:
        return "no answer"
    return f"{status}, redirected too often" if 300 <= status < 400 else str(status)


# The least that RFC 9309 wants parsed, and what Google parses.
DEFAULT_MAX_BYTES = 500 * 1024

_DELAY = re.compile(r"[0-9]+(?:[.,][0-9]*)?(?:e\+?[0-9]+)?", re.IGNORECASE)


class _Group(msgspec.Struct):
    """User-agent lines and the rules below them.

    Kept as written: copying the rules to each agent would let a small file grow quadratically.
    """

    agents: dict[str, int]  # with the number of delays that stood above the name, which are not meant for it
    rules: list[RuleLine]
    delays: list[float]
    signals: list[str]


class RobotsFile(msgspec.Struct, frozen=True):
    sitemaps: tuple[str, ...]  # as written, perhaps relative
    groups: tuple[_Group, ...]

    def rules_for(self, product: str) -> RobotsRules:
        """The rules for a crawler of this product token: its own groups, else everyone's, else none."""
        for agent in (product.lower(), EVERYONE):
            groups = [group for group in self.groups if agent in group.agents]
            if groups:
                return _merged(groups, agent)
        return RobotsRules()


def parse_robots(body: bytes, max_bytes: int = DEFAULT_MAX_BYTES) -> RobotsFile:
    """Read any bytes as robots.txt: what cannot be understood is skipped, what can is obeyed.

    Only the first ``max_bytes`` count. Hand over at least one byte more if there are more, so that a line
    which the limit cuts is told from one that just fits.
    """
    sitemaps: dict[str, None] = {}
    reading = _Reading()
    for line in meaningful_lines(body, max_bytes):
        if line.field is Field.SITEMAP:
            sitemaps[_text(line.value)] = None
        else:
            reading.take(line)
    sitemaps.pop("", None)
    return RobotsFile(tuple(sitemaps), tuple(reading.groups))


class _Reading:
    """The groups so far, and whether the next User-agent line joins the last one or begins another."""

    def __init__(self) -> None:
        self.groups: list[_Group] = []
        self._names_ended = True

    def take(self, line: Line) -> None:
        if line.field is Field.USER_AGENT:
            self._name(line)
        elif self.groups:  # what stands above the first User-agent line speaks to nobody
            self._add(line, self.groups[-1])

    def _name(self, line: Line) -> None:
        if self._names_ended:
            self.groups.append(_Group({}, [], [], []))
            self._names_ended = False
        agent, group = named_agent(_text(line.value)), self.groups[-1]
        if agent:
            group.agents.setdefault(agent, len(group.delays))

    def _add(self, line: Line, group: _Group) -> None:
        match line.field:
            case Field.CRAWL_DELAY:
                group.delays.extend(_seconds(_text(line.value)))
            case Field.CONTENT_SIGNAL:
                group.signals.append(_text(line.value))
            case _:
                # RFC 9309: only these two end the names. Other lines must not change how rules are grouped.
                self._names_ended = True
                group.rules.append(RuleLine(line.field is Field.ALLOW, line.value))


def _merged(groups: list[_Group], agent: str) -> RobotsRules:
    delays = [delay for group in groups for delay in group.delays[group.agents[agent] :]]
    return RobotsRules(
        lines=(rule for group in groups for rule in group.rules),
        agent=agent,
        crawl_delay=max(delays, default=None),
        content_signals=tuple(signal for group in groups for signal in group.signals),
    )


def _seconds(value: str) -> list[float]:
    """A finite delay, or nothing. A decimal comma is a decimal point."""
    words = value.split(maxsplit=1)
    if not words or not _DELAY.fullmatch(words[0]):
        return []
    delay = float(words[0].replace(",", "."))
    return [delay] if math.isfinite(delay) else []


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
