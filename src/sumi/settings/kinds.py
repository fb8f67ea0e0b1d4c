"""Kinds of setting values: how to parse and check each, and the message when it is wrong.

Modules about URLs and patterns are imported when a value is parsed: they take as long to import as everything
else that ``--help`` needs.
"""

import difflib
import ipaddress
import math
import os.path
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from sumi.errors import ConfigError, UsageError, without_passwords
from sumi.policy import Preset, StateBackend, is_database

KIB, MIB, GIB = 1024, 1024**2, 1024**3
_SIZE_UNITS = {"": 1, "b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": KIB, "mib": MIB, "gib": GIB}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([a-z]*)", re.ASCII)
# May omit the scheme: a host, perhaps a port and a path. "mailto:me@x.org" may not.
_BARE_URL = re.compile(r"(?:[^\s/:@?#\\\[\]]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:[/?#].*)?", re.IGNORECASE)
_RESOLVE = re.compile(r"([^\s:/@*\[\]]+):(\d{1,5}):(\[[^\[\]]+\]|[^\[\]:]+)", re.ASCII)
EMAIL = re.compile(r"[^@\s<>();,]+@[^@\s<>();,]+\.[^@\s<>();,]+", re.ASCII)
_LONGEST_SELECTOR = 1000
_AGENT = re.compile(r"[A-Za-z_-][\x20-\x7e]{0,255}")
_USERINFO = re.compile(r"(https?://)([^/?#]*)@")  # in a serialized URL
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)[ \t]*")
# Fields that frame or route a message belong to the HTTP client.
_NOT_OURS = frozenset(
    {
        *("connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "upgrade"),
        *("proxy-authorization", "proxy-connection", "transfer-encoding", "user-agent"),
    }
)
_DURATION = re.compile(
    r"(?:([0-9.]{1,9})d)?(?:([0-9.]{1,9})h)?(?:([0-9.]{1,9})m)?(?:([0-9.]{1,12})s?)?", re.ASCII
)
_MOST_FAILED = re.compile(r"\d{1,9}|\d{1,3}(?:\.\d{1,4})?%", re.ASCII)
_DURATION_UNITS = (86_400, 3600, 60, 1)
_LONGEST_DURATION = 366 * 86_400
_PROXY = re.compile(
    r"(https?|socks5h)://(?:([^/?#@:\s]*)(?::([^/?#@\s]*))?@)?(\[[0-9a-f:.]+\]|[a-z0-9_.-]{1,253}):([0-9]{1,5})/?",
    re.IGNORECASE | re.ASCII,
)


class Kind(NamedTuple):
    """What values a setting takes. ``parse`` raises ValueError, or UsageError with a message of its own;
    ``expects`` completes "must be …"."""

    expects: str
    parse: Callable[[str], object]
    placeholder: str
    natives: tuple[type, ...] = (str,)  # types accepted in a configuration file, besides lists
    many: bool = False
    switch: bool = False
    spaced: bool = False  # a value may contain spaces, so a variable has one value per line
    is_path: bool = False  # may be relative: the job says where such paths in its configuration start


def _parse_warc(text: str) -> str:
    if not text.endswith(".warc.gz"):  # readers go by the suffix
        raise ValueError(text)
    return _parse_folder(text)


def split_resolve(entry: str) -> tuple[str, int, str]:
    """``HOST:PORT:ADDRESS`` as curl writes it, the address of IPv6 in brackets."""
    match = _RESOLVE.fullmatch(entry.strip())
    if match is None:
        raise ValueError(entry)
    host, port, address = match.groups()
    numeric = ipaddress.ip_address(address.strip("[]"))
    if not 1 <= int(port) <= 65535 or (numeric.version == 6) != address.startswith("["):
        raise ValueError(entry)
    return _parse_host_pattern(host), int(port), str(numeric)


def _parse_host_pattern(text: str) -> str:
    from sumi.scope.hosts import canonical_host_pattern

    return canonical_host_pattern(text)


def _normalized(text: str) -> str | None:
    from sumi.urls import normalize

    return normalize(text, Preset.MIRROR)


def _parse_resolve(text: str) -> str:
    host, port, address = split_resolve(text)
    return f"{host}:{port}:[{address}]" if ":" in address else f"{host}:{port}:{address}"


def split_userinfo(url: str) -> tuple[str, str]:
    """A URL without its ``user:password@``, and that, still escaped; empty if there is none."""
    match = _USERINFO.match(url)
    return (url, "") if match is None else (match[1] + url[match.end() :], match[2])


def split_header(entry: str) -> tuple[str, str]:
    """``Name: value``. The error never repeats the value, which may be a secret."""
    match = _HEADER.fullmatch(entry.strip())
    if match is None:
        raise UsageError("must be a header such as 'Accept-Language: en'")
    if match[1].lower() in _NOT_OURS:
        raise UsageError(f"must not set {match[1]}: sumi sets that header itself")
    return match[1], match[2]


def split_header_for(entry: str) -> tuple[str, str, str]:
    """``ORIGIN Name: value``: the origin as a URL, then the header."""
    from sumi.urls import split

    site, _, header = entry.strip().partition(" ")
    url = _normalized(site if "://" in site else f"https://{site}")
    if url is None or "@" in site or (split(url).path, split(url).query) != ("/", ""):
        raise UsageError("must be a site and a header, such as 'https://api.example.org X-Key: abc'")
    return url, *split_header(header)


def split_proxy(entry: str) -> tuple[str, str, int, str | None, str | None]:
    """Scheme, host, port, user and password, the last two still escaped."""
    match = _PROXY.fullmatch(entry.strip())
    if match is None or not 1 <= int(match[5]) <= 65535:
        raise UsageError("must be http://, https:// or socks5h:// with a host and a port")
    return match[1].lower(), match[4].lower(), int(match[5]), match[2], match[3]


def _parse_url(text: str) -> str:
    """Keeps a ``user:password@``; the caller splits it off."""
    from sumi.urls.parts import serialized

    text = text.strip()
    if "://" not in text.partition("?")[0] and _BARE_URL.fullmatch(text):
        text = f"https://{text}"
    url = _normalized(text)
    if url is None and "@" in text:
        raise UsageError("must be an http or https address; it is not shown here because of its password")
    if url is None:
        raise ValueError(text)
    userinfo = split_userinfo(serialized(text) or "")[1]
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{userinfo}@{rest}" if userinfo else url


def _parse_auth(text: str) -> str:
    if ":" not in text or not text.isprintable():
        raise UsageError("must be user:password")
    return text


def _checked_by(split_entry: Callable[[str], object]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        split_entry(text)
        return text.strip()

    return parse


def _parse_contact(text: str) -> str:
    is_page = text.startswith(("http://", "https://")) and _normalized(text)
    if not (is_page or EMAIL.fullmatch(text)) or not re.fullmatch(r"[\x21-\x7e]+", text):
        raise ValueError(text)
    return text


def _parse_agent(text: str) -> str:
    if not _AGENT.fullmatch(text):
        raise ValueError(text)
    return text


def _parse_folder(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise ValueError(text)
    return os.path.expanduser(text)


def _parse_store(text: str) -> str:
    from sumi.files.objects import checked_address  # which settings do without otherwise

    return checked_address(text)


def _parse_file(text: str) -> str:
    path = _parse_folder(text)
    if not os.path.isfile(path):
        raise ValueError(text)
    return path


def _parse_selector(text: str) -> str:
    """Only the browser can check a selector; it does so before the first page."""
    if not text.strip() or len(text) > _LONGEST_SELECTOR or not text.isprintable():
        raise ValueError(text)
    return text.strip()


def split_path_budget(entry: str) -> tuple[str, int]:
    """``PATTERN=N``: at most N pages whose paths match."""
    pattern, equals, number = entry.strip().rpartition("=")
    if not equals or not re.fullmatch(r"[0-9]{1,9}", number):
        raise ValueError(entry)
    return _parse_pattern(pattern), int(number)


def _parse_pattern(text: str) -> str:
    from sumi.scope.patterns import path_pattern

    path_pattern(text)
    return text


def _parse_switch(text: str) -> bool:
    word = text.strip().lower()
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off"}:
        return False
    raise ValueError(text)


def whole(least: int, most: int, what: str) -> Kind:
    def parse(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise ValueError(text)
        return value

    return Kind(f"a whole number of {what} from {least:,} to {most:,}", parse, "N", (int,))


def decimal(least: float, most: float, what: str, *, or_zero: bool = False) -> Kind:
    def parse(text: str) -> float:
        value = float(text)
        if not (or_zero and value == 0) and not least <= value <= most:  # NaN fails the comparison
            raise ValueError(text)
        return value

    extra = ", or 0 for no limit" if or_zero else ""
    return Kind(f"a number of {what} from {least:g} to {most:g}{extra}", parse, "N", (int, float))


def _parse_share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:  # NaN fails the comparison
        raise ValueError(text)
    return value


FIDELITY = Kind("a number from 0 to 1", _parse_share, "N", (int, float))


def size_text(octets: int) -> str:
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if octets and octets % unit == 0:
            return f"{octets // unit}{name}"
    return str(octets)


def size(least: int, most: int) -> Kind:
    def parse(text: str) -> int:
        match = _SIZE.fullmatch(text.strip().lower())
        if match is None or match[2] not in _SIZE_UNITS:
            raise ValueError(text)
        value = math.floor(float(match[1]) * _SIZE_UNITS[match[2]])
        if not least <= value <= most:
            raise ValueError(text)
        return value

    expects = f"a size from {size_text(least)} to {size_text(most)}, such as 500KiB or 32MiB"
    return Kind(expects, parse, "SIZE", (int, str))


def _parse_duration(text: str) -> float:
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None or not any(match.groups()):
        raise ValueError(text)
    seconds = sum(
        float(number or 0) * unit for number, unit in zip(match.groups(), _DURATION_UNITS, strict=True)
    )
    if not 0 < seconds <= _LONGEST_DURATION:
        raise ValueError(text)
    return seconds


def _parse_address(text: str) -> str:
    """As it is written, since its query may mean something to its server."""
    if _normalized(text) is None or not re.fullmatch(r"[\x21-\x7e]+", text):
        raise UsageError("must be an http or https address")  # which may contain a secret
    return text


def _parse_failures(text: str) -> str:
    """Outcomes of failed pages, separated by commas."""
    from sumi.outcomes import BY_ENDING, Ending

    known = {outcome.value for outcome in BY_ENDING[Ending.FAILED]}
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in known:
            hint = suggestion(word, known).replace("-", "_") or "; docs/concepts/outcomes.md lists them"
            raise UsageError(f"{word!r} is not the outcome of a failed page{hint}")
    return ",".join(words)


def _parse_most_failed(text: str) -> str:
    value = text.strip()
    if not _MOST_FAILED.fullmatch(value) or (value.endswith("%") and float(value[:-1]) > 100):
        raise ValueError(text)
    return value


def _parse_secret(text: str) -> str:
    if not text.strip():
        raise UsageError("must not be empty")
    return text


def choice(words: type[StrEnum]) -> Kind:
    names = [word.value for word in words]
    return Kind(f"{', '.join(names[:-1])} or {names[-1]}", words, "|".join(names))


def _parse_state(text: str) -> str:
    return _parse_database(text) if is_database(text) else StateBackend(text)


def _parse_database(text: str) -> str:
    """Its password would be seen by other users, and be stored with the settings."""
    parts = urlsplit(text)
    if parts.password is not None or "password" in parse_qs(parts.query):
        raise UsageError(
            "must not hold a password, which others can read: give it by PGPASSWORD, a password file "
            "(PGPASSFILE) or a service file (PGSERVICEFILE)"
        )
    if not is_database(text) or re.search(r"\s", text):
        raise ValueError(text)
    return text


def _parse_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][\w.:-]{0,99}", text, re.ASCII):
        raise ValueError(text)
    return text


def many(kind: Kind) -> Kind:
    return kind._replace(many=True)


URL = Kind("an http or https address, such as https://docs.example.org/", _parse_url, "URL")
RATE = decimal(0.0001, 10_000, "requests per second", or_zero=True)
SWITCH = Kind("true or false", _parse_switch, "", (bool,), switch=True)
PATTERN = Kind("a glob such as /docs/* or a regular expression after re:", _parse_pattern, "PATTERN")
PATH_BUDGET = Kind(
    "a pattern and a number, such as /blog/**=200", _checked_by(split_path_budget), "PATTERN=N"
)
HOST_PATTERN = Kind("a host name, perhaps after *.", _parse_host_pattern, "PATTERN")
RESOLVE = Kind("HOST:PORT:ADDRESS, an IPv6 address in brackets", _parse_resolve, "HOST:PORT:ADDR")
AUTH = Kind("user:password", _parse_auth, "USER:PASSWORD")
HEADER = Kind("a header such as Accept-Language: en", _checked_by(split_header), "HEADER", spaced=True)
HEADER_FOR = Kind(
    "a site and a header, such as https://api.example.org X-Key: abc",
    _checked_by(split_header_for),
    "'SITE HEADER'",
    spaced=True,
)
PROXY = Kind("an http, https or socks5h address with a port", _checked_by(split_proxy), "URL")
AGENT = Kind("printable ASCII that starts with a name, such as mybot/1.0", _parse_agent, "TEXT")
CONTACT = Kind("a web address or an e-mail address", _parse_contact, "URL|EMAIL")
STATE = Kind(
    f"{', '.join(StateBackend)} or the address of a database, such as postgresql://db.example.org/sumi",
    _parse_state,
    f"{'|'.join(StateBackend)}|postgresql://HOST/DATABASE",
)
JOB_NAME = Kind("letters, digits, and . : _ - between them", _parse_name, "NAME")
FOLDER = Kind("a folder", _parse_folder, "DIR")
FILE = Kind("an existing file", _parse_file, "FILE", is_path=True)
STORE = Kind("s3://BUCKET/PREFIX or file:///FOLDER", _parse_store, "URL")
NEW_FILE = Kind("a file", _parse_folder, "FILE")
WARC = Kind("a file whose name ends in .warc.gz", _parse_warc, "FILE")
DURATION = Kind(
    "a time such as 90s, 45m, 8h, 1d or 1h30m; a number alone means seconds",
    _parse_duration,
    "DURATION",
    (int, float, str),
)
ADDRESS = Kind("an http or https address", _parse_address, "URL")
SECRET_TEXT = Kind("a text that only the two sides know", _parse_secret, "TEXT")
FAILURES = Kind("outcomes of failed pages, such as not_found,soft_404", _parse_failures, "OUTCOMES")
MOST_FAILED = Kind("a number of pages, or a share such as 1%", _parse_most_failed, "N|N%", (int, str))
COLUMN = Kind("the name of a column", _parse_selector, "NAME")
PROGRAM = Kind("a program, by name or path", _parse_folder, "PATH")
SELECTOR = Kind("a CSS selector such as main .content", _parse_selector, "SELECTOR")


def from_native(kind: Kind, value: object, where: str) -> object:
    if kind.many and not isinstance(value, list):
        raise ConfigError([complaint(where, value, f"a list, each item {kind.expects}")])
    items = value if kind.many and isinstance(value, list) else [value]
    taken: list[object] = []
    violations: list[str] = []
    for item in items:
        try:
            taken.append(from_scalar(kind, item, where))
        except UsageError as error:
            violations.append(str(error))
    if violations:
        raise ConfigError(violations)
    return tuple(taken) if kind.many else taken[0]


def parsed(kind: Kind, text: str, where: str, shown: str | None = None) -> object:
    """``shown``: what the user wrote, if that is not the text."""
    try:
        return kind.parse(text)
    except ValueError:
        raise UsageError(complaint(where, text if shown is None else shown, kind.expects)) from None
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def complaint(where: str, value: object, expects: str) -> str:
    shown = without_passwords(repr(value))
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return f"{where} is {shown}, but must be {expects}"


def suggestion(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word.replace("_", "-").lower(), list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def from_scalar(kind: Kind, value: object, where: str) -> object:
    # type() and not isinstance(): True is an int for Python, but not for the author of the file.
    if type(value) not in kind.natives:
        quotes = " in quotes" if kind.natives == (str,) else ""
        raise UsageError(complaint(where, value, kind.expects + quotes))
    return value if isinstance(value, bool) else parsed(kind, str(value), where)
