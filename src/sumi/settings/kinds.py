"""Kinds of setting values: how each is written, what it is checked for, what to say when it is wrong."""

import ipaddress
import math
import os.path
import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from sumi.policy import Preset
from sumi.scope.hosts import canonical_host_pattern
from sumi.scope.patterns import path_pattern
from sumi.urls import normalize

KIB, MIB, GIB = 1024, 1024**2, 1024**3
_SIZE_UNITS = {"": 1, "b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": KIB, "mib": MIB, "gib": GIB}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([a-z]*)", re.ASCII)
# What may stand without a scheme: a host, perhaps a port, perhaps a path. "mailto:me@x.org" may not.
_BARE_URL = re.compile(r"(?:[^\s/:@?#\\\[\]]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:[/?#].*)?", re.IGNORECASE)
_RESOLVE = re.compile(r"([^\s:/@*\[\]]+):(\d{1,5}):(\[[^\[\]]+\]|[^\[\]:]+)", re.ASCII)
EMAIL = re.compile(r"[^@\s<>();,]+@[^@\s<>();,]+\.[^@\s<>();,]+", re.ASCII)
_AGENT = re.compile(r"[A-Za-z_-][\x20-\x7e]{0,255}")


class Kind(NamedTuple):
    """What values a setting takes. ``parse`` raises ValueError, or UsageError where it has more to say;
    ``expects`` completes "must be …"."""

    expects: str
    parse: Callable[[str], object]
    placeholder: str
    natives: tuple[type, ...] = (str,)  # types of a configuration file that are taken, besides lists
    many: bool = False
    switch: bool = False


def split_resolve(entry: str) -> tuple[str, int, str]:
    """``HOST:PORT:ADDRESS`` as curl writes it, the address of IPv6 in brackets."""
    match = _RESOLVE.fullmatch(entry.strip())
    if match is None:
        raise ValueError(entry)
    host, port, address = match.groups()
    numeric = ipaddress.ip_address(address.strip("[]"))
    if not 1 <= int(port) <= 65535 or (numeric.version == 6) != address.startswith("["):
        raise ValueError(entry)
    return canonical_host_pattern(host), int(port), str(numeric)


def _parse_resolve(text: str) -> str:
    host, port, address = split_resolve(text)
    return f"{host}:{port}:[{address}]" if ":" in address else f"{host}:{port}:{address}"


def _parse_url(text: str) -> str:
    text = text.strip()
    if "://" not in text.partition("?")[0] and _BARE_URL.fullmatch(text):
        text = f"https://{text}"
    url = normalize(text, Preset.MIRROR)
    if url is None:
        raise ValueError(text)
    return url


def _parse_contact(text: str) -> str:
    is_page = text.startswith(("http://", "https://")) and normalize(text, Preset.MIRROR)
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


def _parse_file(text: str) -> str:
    path = _parse_folder(text)
    if not os.path.isfile(path):
        raise ValueError(text)
    return path


def _parse_pattern(text: str) -> str:
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


def size(least: int, most: int) -> Kind:
    def parse(text: str) -> int:
        match = _SIZE.fullmatch(text.strip().lower())
        if match is None or match[2] not in _SIZE_UNITS:
            raise ValueError(text)
        value = math.floor(float(match[1]) * _SIZE_UNITS[match[2]])
        if not least <= value <= most:
            raise ValueError(text)
        return value

    expects = f"a size from {least // KIB}KiB to {most // GIB}GiB, such as 500KiB or 32MiB"
    return Kind(expects, parse, "SIZE", (int, str))


def choice(words: type[StrEnum]) -> Kind:
    names = [word.value for word in words]
    return Kind(f"{', '.join(names[:-1])} or {names[-1]}", words, "|".join(names))


def many(kind: Kind) -> Kind:
    return kind._replace(many=True)


URL = Kind("an http or https address, such as https://docs.example.org/", _parse_url, "URL")
RATE = decimal(0.0001, 10_000, "requests per second", or_zero=True)
SWITCH = Kind("true or false", _parse_switch, "", (bool,), switch=True)
PATTERN = Kind("a glob such as /docs/* or a regular expression after re:", _parse_pattern, "PATTERN")
HOST_PATTERN = Kind("a host name, perhaps after *.", canonical_host_pattern, "PATTERN")
RESOLVE = Kind("HOST:PORT:ADDRESS, an IPv6 address in brackets", _parse_resolve, "HOST:PORT:ADDR")
AGENT = Kind("printable ASCII that starts with a name, such as mybot/1.0", _parse_agent, "TEXT")
CONTACT = Kind("a web address or an e-mail address", _parse_contact, "URL|EMAIL")
FOLDER = Kind("a folder", _parse_folder, "DIR")
FILE = Kind("an existing file", _parse_file, "FILE")
