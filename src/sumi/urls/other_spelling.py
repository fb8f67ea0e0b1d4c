"""The other spelling of a URL, where a server does not know the one that was asked for.

A spelling is one of several that have the same identity. The other one is the identity's own; where that is
what was asked for, it is the one with a slash at its end, or with ``www.`` before its name.
"""

import re
from typing import Final

from sumi.urls.parts import origin, split
from sumi.urls.rules import Rules

_WWW: Final = "://www."
# What is called like a file is no folder: that it is there with a slash at its end is not worth a request.
_FILE: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}\Z")


def other_path(target: str, identity: str, rules: Rules) -> str | None:
    """For a page that is not there: the same site, another path or query."""
    site = origin(target)
    other = site + identity[len(origin(identity)) :]
    if other != target:
        return other
    path, mark, query = identity[len(origin(identity)) :].partition("?")
    if not rules.strip_trailing_slash or path.endswith("/") or _FILE.search(path):
        return None
    return f"{site}{path}/{mark}{query}"


def other_name(target: str, identity: str, rules: Rules) -> str | None:
    """For a host whose name is unknown: the same path under another name."""
    site, bare = origin(target), origin(identity)
    if site != bare:
        return bare + target[len(site) :]
    return target.replace("://", _WWW, 1) if rules.strip_www and _takes_www(bare) else None


def _takes_www(site: str) -> bool:
    """A name of several labels; no address."""
    host = split(site).host
    return "." in host and not host.rpartition(".")[2].isdigit()
