"""Header fields of requests and responses, and credentials, which go to one origin only."""

import base64
import re
from typing import TypeAlias

from sumi.fetch.target import Origin, Target
from sumi.policy import Credential, Secret

Fields: TypeAlias = tuple[tuple[str, str], ...]

_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
_ACCEPT_ENCODING = "gzip, br, zstd"

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_VALUE = re.compile("[\t\x20-\x7e\x80-\xff]*\\Z")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]+")  # all but tab and line feed
_FOLD = re.compile(r"\n[ \t]+")
_DIGITS = re.compile(r"[0-9]{1,18}\Z")
_TOO_MANY_DIGITS = re.compile(r"0*[1-9][0-9]{18,}\Z")


def request_lines(user_agent: str, extra: Fields) -> list[bytes] | None:
    """The header lines for curl; a field of ``extra`` replaces ours. None if one is invalid."""
    given = {name.lower() for name, _ in extra}
    ours = (("User-Agent", user_agent), ("Accept", _ACCEPT), ("Accept-Encoding", _ACCEPT_ENCODING))
    fields = [field for field in ours if field[0].lower() not in given]
    fields.extend(extra)
    if not all(_TOKEN.match(name) and _VALUE.match(value) for name, value in fields):
        return None
    return [_line(name, value.strip(" \t")) for name, value in fields]


def _line(name: str, value: str) -> bytes:
    # To curl, "Name:" removes a header and "Name;" sends an empty one.
    text = f"{name}: {value}" if value else f"{name};"
    return text.encode("latin-1")


def parse_fields(lines: list[bytes]) -> Fields:
    """Field lines as pairs: names in lower case, folded lines joined, control characters replaced."""
    text = _CONTROLS.sub(" ", b"".join(lines).decode("latin-1"))
    fields: list[tuple[str, str]] = []
    for line in _FOLD.sub(" ", text).split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            fields.append((name.strip(" \t").lower(), value.strip(" \t")))
    return tuple(fields)


def status_of(line: bytes) -> int:
    """The status of a status line; 0 if it has none."""
    words = line.split(None, 2)
    return int(words[1]) if len(words) > 1 and len(words[1]) == 3 and words[1].isdigit() else 0


def version_of(line: bytes) -> str:
    """``HTTP/1.1 200 OK`` is 1.1, ``HTTP/2 200`` is 2."""
    words = line[5:].split(None, 1)
    return words[0].decode("latin-1") if words else ""


def all_values(fields: Fields, name: str) -> list[str]:
    return [value for key, value in fields if key == name]


def declared_length(fields: Fields) -> int:
    """The Content-Length, 0 if there is no valid one."""
    value = next(iter(all_values(fields, "content-length")), "")
    return int(value) if _DIGITS.match(value) else 0


def has_absurd_length(fields: Fields) -> bool:
    """A Content-Length of too many digits. curl would ignore it and take whatever comes as the whole body."""
    return any(_TOO_MANY_DIGITS.match(value) for value in all_values(fields, "content-length"))


def basic_auth(origin: Origin, user_and_password: str) -> Credential:
    encoded = base64.b64encode(user_and_password.encode()).decode("ascii")
    return Credential(origin, "Authorization", Secret(f"Basic {encoded}"))


class CredentialBook:
    """Each credential is sent to its origin only, and never shown."""

    def __init__(self, credentials: tuple[Credential, ...]) -> None:
        self._fields: dict[Origin, Fields] = {}
        for origin, name, value in credentials:
            self._fields[origin] = (*self._fields.get(origin, ()), (name, value.reveal()))

    def __bool__(self) -> bool:
        return bool(self._fields)

    def fields_for(self, target: Target) -> Fields:
        """Only if scheme, host and port all match."""
        return self._fields.get(target.origin, ())
