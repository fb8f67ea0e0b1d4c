"""What a URL asks us to dial. Host and port are read from the very string that curl is given."""

import re
from typing import NamedTuple

import ada_url

_DEFAULT_PORTS = {"http": 80, "https": 443}

# Reads only what ada wrote: there the authority has one possible reading. (Asking ada for each part would
# cost four times as much, on every request.)
_CANONICAL = re.compile(
    r"(https?)://(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[^/?#:@\[\]]+)(?::([0-9]+))?(/[^#]*)(?:#.*)?\Z"
)


class Target(NamedTuple):
    url: str  # canonical, without credentials or fragment
    host: str  # lower case; IPv6 in brackets
    port: int


def parse_target(url: str) -> Target | None:
    """The target of an http(s) URL; None for anything else."""
    try:
        canonical = ada_url.normalize_url(url)
    except (ValueError, UnicodeError):
        return None
    match = _CANONICAL.match(canonical)
    if match is None:
        return None
    scheme, host, port, rest = match.groups()
    authority = f"{host}:{port}" if port else host
    return Target(f"{scheme}://{authority}{rest}", host, int(port) if port else _DEFAULT_PORTS[scheme])
