"""The sections and keys of a terrain map's configuration file, and what values each takes."""

import os.path
import re
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from sumi.errors import UsageError
from sumi.policy import Preset, RenderMode, RobotsOnError
from sumi.scope.hosts import canonical_domain_pattern, is_address
from sumi.settings.kinds import EMAIL, RESOLVE, SWITCH, Kind, choice, many, whole
from sumi.urls import map_rules, normalize, spelled

_U32: Final = 2**32 - 1
_DAY_MS: Final = 86_400_000
_NAME: Final = re.compile(r"[A-Za-z0-9-]+", re.ASCII)
_VERSION: Final = re.compile(r"[A-Za-z0-9._+-]+", re.ASCII)
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+", re.ASCII)
# Stricter than a URL's host: what stands in a list of domains is looked for among names that resolve.
_LABELS: Final = re.compile(
    r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*", re.ASCII
)


class Key(NamedTuple):
    kind: Kind
    required: bool = False


Keys: TypeAlias = dict[str, Key]


def sections(folder: Path) -> dict[str, Keys]:
    """By name of the section; file names are relative to ``folder``."""
    agent = {
        "crawler-name": Key(_matching(_NAME, "letters, digits and hyphens"), required=True),
        "crawler-version": Key(_matching(_VERSION, "a version such as 1.0")),
        "contact-url": Key(
            _web_address("the address of a page about your crawler, with http:// or https://")
        ),
        "contact-email": Key(_matching(EMAIL, "an e-mail address such as crawler@example.com")),
    }
    crawler = {
        "max-depth": Key(whole(0, _U32, "links")),
        "max-concurrent-pages-open": Key(whole(1, 100, "pages")),
        "minimum-time-on-page": Key(whole(100, _DAY_MS, "milliseconds")),
        "max-domain-requests": Key(whole(1, _U32, "requests")),
    }
    webhook = Key(_web_address("an address to send to, with http:// or https://"))
    return {
        "crawler": crawler,
        "user-agent": agent,
        "output": {"database-path": Key(_file_in(folder)), "summary-path": Key(_file_in(folder))},
        "http": {
            "ca-file": Key(_existing_file_in(folder)),
            "resolve": Key(many(RESOLVE)),
            "allow-http": Key(SWITCH),
        },
        "robots": {"on-error": Key(choice(RobotsOnError))},
        "content": {"keep": Key(SWITCH)},
        "webhooks": {"on-complete": webhook, "on-error": webhook},
        "render": {"mode": Key(choice(RenderMode)), "wait-for": Key(many(_SELECTOR))},
    }


def entries(*, allow_http: bool) -> dict[str, Keys]:
    """By name of the section; each section may be there any number of times."""
    domain = {"domain": Key(_DOMAIN, required=True)}
    return {
        "quality": domain | {"seeds": Key(many(_seed(allow_http=allow_http)), required=True)},
        "blacklist": domain,
        "stub": domain,
    }


def _matching(pattern: re.Pattern[str], expects: str) -> Kind:
    def parse(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(text)
        return text

    return Kind(expects, parse, "TEXT")


def _web_address(expects: str) -> Kind:
    def parse(text: str) -> str:
        # It is sent in a header, so it must be written in the characters that a URL is made of.
        if normalize(text, Preset.MIRROR) is None or not _PRINTABLE.fullmatch(text):
            raise ValueError(text)
        return text

    return Kind(expects, parse, "URL")


def _seed(*, allow_http: bool) -> Kind:
    """As it is to be requested."""
    rules = map_rules(allow_http=allow_http)
    schemes = ("https://", "http://") if allow_http else ("https://",)

    def parse(text: str) -> str:
        seed = spelled(text, rules) if text.lower().startswith(schemes) else None
        if seed is None or "@" in text.partition("://")[2].partition("/")[0]:
            raise ValueError(text)
        return seed.target

    hint = "" if allow_http else " (http needs allow-http = true under [http])"
    return Kind(f"an address such as https://example.com/{hint}", parse, "URL")


def _parse_domain(text: str) -> str:
    try:
        pattern = canonical_domain_pattern(text)
    except UsageError as error:  # whose advice is for host patterns, which may have ports
        raise ValueError(text) from error
    name = pattern.removeprefix("*.")
    if not _LABELS.fullmatch(name) and not is_address(name):
        raise ValueError(text)
    return pattern


def _file_in(folder: Path) -> Kind:
    def parse(text: str) -> Path:
        if not text.strip() or "\0" in text or text.endswith("/"):
            raise ValueError(text)
        return folder / os.path.expanduser(text)

    return Kind("the name of a file", parse, "FILE")


def _existing_file_in(folder: Path) -> Kind:
    def parse(text: str) -> Path:
        path = folder / os.path.expanduser(text)
        if not os.path.isfile(path):
            raise ValueError(text)
        return path

    return Kind("an existing file", parse, "FILE")


def _parse_selector(text: str) -> str:
    if not text.strip():
        raise ValueError(text)
    return text


_DOMAIN: Final = Kind(
    "a domain such as example.com, perhaps after *., without a port", _parse_domain, "PATTERN"
)
_SELECTOR: Final = Kind("a CSS selector such as main article", _parse_selector, "SELECTOR")
