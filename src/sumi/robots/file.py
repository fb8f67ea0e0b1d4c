"""A whole robots.txt: its lines, its groups, what its status means, and what all of it says to one crawler.

Lines are read as leniently as the large search engines read them.
"""

import math
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

import msgspec

from sumi.outcomes import Outcome, Verdict
from sumi.policy import RobotsOnError, RobotsPolicy
from sumi.robots.rules import RobotsRules, RuleLine
from sumi.urls import split

# Google's limit: eight times the longest URL of common browsers. The rest of a line is ignored.
MAX_LINE = 8 * 2083


class Field(StrEnum):
    """The fields that have a meaning. The value is how a rule is quoted to the user."""

    USER_AGENT = "User-agent"
    ALLOW = "Allow"
    DISALLOW = "Disallow"
    CRAWL_DELAY = "Crawl-delay"
    SITEMAP = "Sitemap"
    CONTENT_SIGNAL = "Content-Signal"


class Line(NamedTuple):
    field: Field
    value: bytes


# The spellings that Google's parser accepts. As there, a name only has to begin like this, so "Disallowed:"
# and "Sitemaps:" count too.
_LINE = re.compile(
    rb"""(?: (?P<USER_AGENT> user[- ]?agent )
           | (?P<DISALLOW> dis{1,2}al{1,2}ow | disallaw | diasllow )
           | (?P<ALLOW> allow )
           | (?P<CRAWL_DELAY> crawl[- ]?delay )
           | (?P<SITEMAP> site-?map )
           | (?P<CONTENT_SIGNAL> content-signal )
         ) [a-z-]*
         (?: [ \t]* (?P<colon> : ) | [ \t] )
         (?P<value> .* )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
# Or only the first one or two bytes of the mark, which some editors leave behind.
_UTF8_MARK = re.compile(rb"\xef(?:\xbb\xbf?)?")
_HTML = re.compile(rb"\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_WHITESPACE = b" \t\v\f"
# Invisible characters that editors, word processors and web forms leave behind; the last is a no-break space
# of Latin-1, decoded as UTF-8. Google's parser strips ASCII only, but no path is meant to end with these.
_INVISIBLE = (
    " \t\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u2028\u2029\u202f\u205f\u2060\u3000\ufeff\udca0"
    + "".join(map(chr, range(0x2000, 0x200C)))
)


def is_web_page(body: bytes) -> bool:
    """Whether the body is an HTML page: some servers answer every request with one."""
    return _HTML.match(_as_utf8(body[:MAX_LINE])) is not None


def meaningful_lines(body: bytes, max_bytes: int) -> Iterator[Line]:
    """The lines with a known field, within the first ``max_bytes``; a line that the limit cuts is dropped.

    An HTML page in place of the file has none.
    """
    if is_web_page(body):
        return
    text = _as_utf8(body[:max_bytes])
    lines = text.splitlines()
    if lines and _last_line_is_cut(body, max_bytes):
        lines.pop()
    for line in lines:
        parsed = _parsed(line[:MAX_LINE])
        if parsed is not None:
            yield parsed


def _as_utf8(body: bytes) -> bytes:
    encoding = _UTF16_MARKS.get(body[:2])
    if encoding is not None:
        return body[2:].decode(encoding, "replace").encode()
    # UTF-16 without a mark looks like ASCII with NULs in between; elsewhere a NUL means nothing.
    plain = body.replace(b"\0", b"")
    mark = _UTF8_MARK.match(plain)
    return plain[mark.end() :] if mark else plain


def _last_line_is_cut(body: bytes, max_bytes: int) -> bool:
    around_the_cut = body[max(max_bytes - 1, 0) : max_bytes + 1]
    return len(body) > max_bytes and not any(end in around_the_cut for end in b"\r\n")


def _parsed(line: bytes) -> Line | None:
    content = _stripped(line.partition(b"#")[0])
    if not content.isascii():
        before, colon, behind = content.partition(b":")
        content = _stripped(before) + colon + behind
    match = _LINE.match(content)
    if match is None:
        return None
    value = _stripped(match["value"])
    if match["colon"] is None and len(value.split()) != 1:
        return None  # a missing colon is forgiven only if there are exactly two words
    name = next(field for field in Field.__members__ if match[field] is not None)
    return Line(Field[name], value)


def _stripped(text: bytes) -> bytes:
    text = text.strip(_WHITESPACE)
    if text.isascii():
        return text
    return text.decode("utf-8", "surrogateescape").strip(_INVISIBLE).encode("utf-8", "surrogateescape")


EVERYONE = "*"

_TOKEN = re.compile(r"[A-Za-z_-]*")
# "Mozilla/5.0 (compatible; name/1.0; +url)": the name that robots.txt uses is inside.
_COMPATIBLE = re.compile(r"mozilla/[^(]{0,40}\(compatible;\s*([a-z_-]+)", re.IGNORECASE)


def product_token(user_agent: str) -> str:
    """The product token of a User-Agent header: ``sumi`` for ``sumi/0.1 (+url; mail)``. May be empty."""
    compatible = _COMPATIBLE.match(user_agent)
    return compatible[1] if compatible else _leading_token(user_agent.lstrip())


def named_agent(value: str) -> str:
    """The agent that a User-agent line names, in lower case: a token, ``*``, or "" if it is invalid.

    What follows the token (a version, more words) is ignored, as in Google's parser.
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
    DENY_ALL = "deny all"  # until robots.txt is fetched again


class RobotsVerdict(msgspec.Struct, frozen=True):
    access: RobotsAccess
    meaning: str  # for people: "everything allowed (404)"


def robots_verdict(status: int, policy: RobotsPolicy) -> RobotsVerdict:
    """Judge a final response; ``status`` 0: none came, 3xx: a redirect that was not followed.

    RFC 9309 calls a client error "unavailable", which allows, and a server error or silence "unreachable",
    which denies. 429 is a client error by number only: the server asks for fewer requests.
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


# The minimum by RFC 9309, and what Google parses.
DEFAULT_MAX_BYTES = 500 * 1024

_DELAY = re.compile(r"[0-9]+(?:[.,][0-9]*)?(?:e\+?[0-9]+)?", re.IGNORECASE)


class _Group(msgspec.Struct):
    """User-agent lines and the rules below them.

    Kept as written: copying the rules to each agent would make a small file grow quadratically.
    """

    agents: dict[str, int]  # how many of ``delays`` stand above the name and do not apply to it
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
    """Parse any bytes as robots.txt; what cannot be understood is skipped.

    Only the first ``max_bytes`` count. Pass at least one byte more if there are more, so that a line which
    the limit cuts can be told from one that just fits.
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
        elif self.groups:  # lines above the first User-agent line apply to no crawler
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
                # RFC 9309: only Allow and Disallow end the list of names; other lines do not split groups.
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
    """A finite delay, or nothing. A decimal comma counts as a point."""
    words = value.split(maxsplit=1)
    if not words or not _DELAY.fullmatch(words[0]):
        return []
    delay = float(words[0].replace(",", "."))
    return [delay] if math.isfinite(delay) else []


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


class Ruling(msgspec.Struct, frozen=True):
    """What one origin's robots.txt means for us."""

    access: RobotsAccess
    words: str
    expires: float
    rules: RobotsRules
    reachable: bool = True
    denies_as: Outcome = Outcome.ROBOTS_DENIED  # the outcome of its pages if it denies everything

    def refusal(self, url: str) -> Verdict | None:
        if self.access is RobotsAccess.ALLOW_ALL:
            return None
        if self.access is RobotsAccess.DENY_ALL:
            return Verdict(self.denies_as, self.words)
        parts = split(url)  # not a function of its own: this runs for every link
        decision = self.rules.decide(f"{parts.path}?{parts.query}" if parts.query else parts.path)
        return None if decision.allowed else Verdict(Outcome.ROBOTS_DENIED, f"robots.txt: {decision.rule}")

    def allowance(self, url: str) -> str:
        """Why a page may be fetched: the line that allows it, or that no line applies."""
        if self.access is not RobotsAccess.RULES:
            return self.words
        parts = split(url)
        decision = self.rules.decide(f"{parts.path}?{parts.query}" if parts.query else parts.path)
        return decision.rule or "no rule applies"
