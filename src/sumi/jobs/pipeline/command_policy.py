"""``sumi crawl validate-policy``: whether a crawl would take URLs, and which rule decides."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

import msgspec

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError, without_passwords

if TYPE_CHECKING:
    from sumi.jobs.pipeline.config import CrawlConfig
    from sumi.jobs.pipeline.policy import Profile
    from sumi.robots import RobotsRules
    from sumi.urls import Rules

_ALL_TAKEN, _SOME_REFUSED = 0, 1
_MAX_LINE = 65_536  # characters; a longer line is not a URL

_EXAMPLES = """\
examples:
  sumi crawl validate-policy --config github.yaml https://github.com/owner/repo
  sumi crawl validate-policy --config github.yaml --from urls.txt --json
  sort urls.txt | sumi crawl validate-policy --config github.yaml --from - --robots robots.txt
"""


class Judgement(msgspec.Struct, frozen=True):
    url: str  # as given, without a password
    canonical: str | None  # the identity that the crawl would use; None for an invalid URL
    ok: bool
    reason: str
    page_type: str = ""
    repo: str | None = None  # the repository whose pages it would be counted with
    caps: dict[str, int] = {}  # the caps that a URL which is taken counts toward


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi crawl validate-policy",
        usage="sumi crawl validate-policy --config FILE [options] [URL ...]",
        description=(
            "Checks a crawl configuration and says for each URL whether the crawl would take it, which rule "
            "decides, and what type of page it is. Fetches nothing. Exit code 1 if any is refused."
        ),
        epilog=_EXAMPLES,
    )
    parser.add_argument("urls", metavar="URL", nargs="*", help="URLs to judge.")
    parser.add_argument("--config", metavar="FILE", required=True, help="The crawl configuration (YAML).")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="Judge the URLs in this file, one per line; - for stdin.",
    )
    parser.add_argument("--robots", metavar="FILE", help="Apply this robots.txt to every host.")
    parser.add_argument("--json", action="store_true", help="One JSON object per URL on stdout.")
    return parser


def run(arguments: Sequence[str]) -> int:
    from sumi.jobs.pipeline.config_file import load_crawl_config
    from sumi.jobs.pipeline.policy import compliance_banner

    options = build_parser().parse_all(arguments)
    config = load_crawl_config(options.config)
    out, err = Sink(sys.stdout), Sink(sys.stderr)
    for line in compliance_banner(config):
        err.line(printable(line))
    judge = _Judge(config, options.robots)
    taken = refused = 0
    for url in _urls(options):
        judgement = judge.judge(url)
        taken, refused = taken + judgement.ok, refused + (not judgement.ok)
        out.line(json.dumps(msgspec.to_builtins(judgement)) if options.json else _line(judgement))
    judged = f"{taken:,} taken, {refused:,} refused"
    err.line(judged if taken or refused else "the configuration is valid; give URLs to judge them")
    return _SOME_REFUSED if refused else _ALL_TAKEN


class _Judge:
    def __init__(self, config: "CrawlConfig", robots_file: str | None) -> None:
        from sumi.jobs.pipeline.policy import crawl_profile
        from sumi.urls import crawl_rules

        self._config = config
        self._rules: Rules = crawl_rules(config.scope.keep_query)
        self._profile: Profile = crawl_profile(config)
        self._robots = None if robots_file is None else _robots_rules(robots_file, config.user_agent)

    def judge(self, text: str) -> Judgement:
        from sumi.jobs.pipeline.policy import caps_on
        from sumi.urls import normalize_with

        url, text = normalize_with(text, self._rules), without_passwords(text)
        if url is None:
            return Judgement(text, None, False, "bad_url: not an http or https URL")
        verdict = self._profile.gate(url)
        repo = self._profile.group_of(url)
        refusal = _robots_refusal(url, self._robots) if verdict.ok and self._robots else ""
        ok = verdict.ok and not refusal
        caps = caps_on(self._config, verdict.page_type, repo) if ok else ()
        return Judgement(text, url, ok, refusal or verdict.reason, verdict.page_type, repo, dict(caps))


def _robots_rules(path: str, agent: str) -> "RobotsRules":
    from sumi.policy import RobotsPolicy
    from sumi.robots import parse_robots, product_token

    limit = RobotsPolicy().max_bytes
    try:
        with open(path, "rb") as file:
            body = file.read(limit + 1)
    except OSError as error:
        raise UsageError(f"--robots {path} cannot be read: {error.strerror}") from None
    return parse_robots(body, limit).rules_for(product_token(agent))


def _robots_refusal(url: str, rules: "RobotsRules") -> str:
    from sumi.urls import split

    parts = split(url)
    decision = rules.decide(f"{parts.path}?{parts.query}" if parts.query else parts.path)
    return "" if decision.allowed else f"robots_denied: robots.txt: {decision.rule}"


def _urls(options: argparse.Namespace) -> Iterator[str]:
    # Arguments may contain bytes that are not UTF-8, which JSON cannot hold.
    yield from (url.encode("utf-8", "replace").decode() for url in options.urls)
    if options.source is None:
        return
    source = sys.stdin.fileno() if options.source == "-" else options.source
    try:
        with open(source, encoding="utf-8", errors="replace", closefd=options.source != "-") as file:
            yield from _lines_of(file)
    except OSError as error:
        raise UsageError(f"--from {options.source} cannot be read: {error.strerror}") from None


def _lines_of(file: TextIO) -> Iterator[str]:
    while line := file.readline(_MAX_LINE):
        text = line.strip()
        if text and not text.startswith("#"):
            yield text
        while line and not line.endswith("\n"):  # skip the rest of an overlong line
            line = file.readline(_MAX_LINE)


def _line(judgement: Judgement) -> str:
    word = "ok     " if judgement.ok else "refused"
    kind = f"  [{judgement.page_type}]" if judgement.canonical else ""
    spelled = judgement.canonical if judgement.canonical not in (None, judgement.url) else ""
    known_as = f"\n         known as {printable(spelled)}" if spelled else ""
    limits = ", ".join(f"{key} {most:,}" for key, most in judgement.caps.items())
    counted = f"\n         counts toward {limits}" if limits else ""
    return f"{word}  {printable(judgement.url)}{kind}  {printable(judgement.reason)}{known_as}{counted}"
