"""The host and port to connect to for a URL, read from the very string that curl is given."""

import re
from typing import NamedTuple, TypeAlias

import ada_url

Origin: TypeAlias = tuple[str, str, int]  # scheme, host, port

_DEFAULT_PORTS = {"http": 80, "https": 443}

# Only for ada's output, in which the authority is unambiguous. (Asking ada for each part would cost four
# times as much, on every request.)
_CANONICAL = re.compile(
    r"(https?)://(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[^/?#:@\[\]]+)(?::([0-9]+))?(/[^#]*)(?:#.*)?\Z"
)


# Valid host names. ada accepts more, and curl gives some of it a meaning of its own.
_NAME = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?\Z")
_LONGEST_NAME = 254


class Target(NamedTuple):
    url: str  # canonical, without credentials or fragment
    host: str  # lower case; IPv6 in brackets
    port: int

    @property
    def origin(self) -> Origin:
        """The scope of credentials."""
        return self.url[: self.url.index(":")], self.host, self.port


def parse_target(url: str) -> Target | None:
    """The target of an http(s) URL with a valid host; None for anything else."""
    try:
        canonical = ada_url.normalize_url(url)
    except (ValueError, UnicodeError):
        return None
    match = _CANONICAL.match(canonical)
    if match is None:
        return None
    scheme, host, port, rest = match.groups()
    if not (host.startswith("[") or (_NAME.match(host) and len(host) <= _LONGEST_NAME)):
        return None
    authority = f"{host}:{port}" if port else host
    return Target(f"{scheme}://{authority}{rest}", host, int(port) if port else _DEFAULT_PORTS[scheme])
