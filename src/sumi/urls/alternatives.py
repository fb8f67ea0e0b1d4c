"""Other addresses where a page may be: another spelling of its URL, or its source as Markdown."""

import re
from collections.abc import Callable
from typing import Final

from sumi.urls.parts import origin, split
from sumi.urls.rules import Rules

# Spellings of one URL have the same identity. The other spelling is the identity itself; where that was the
# one requested, it is the one with a slash at its end, or with ``www.`` before its name.
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


def _beside_html(url: str) -> str | None:
    """``/guide/install.html`` → ``/guide/install.md``."""
    for ending in (".html", ".htm"):
        if url.endswith(ending):
            return url.removesuffix(ending) + ".md"
    return None


def _after_html(url: str) -> str | None:
    """``/guide/install.html`` → ``/guide/install.html.md``."""
    return url + ".md" if url.endswith((".html", ".htm")) else None


def _named_after_folder(url: str) -> str | None:
    """``/guide/install`` and ``/guide/install/`` → ``/guide/install.md``."""
    bare = url.removesuffix("/")
    if split(bare + "/").path == "/" or "." in bare.rpartition("/")[2]:
        return None
    return bare + ".md"


def _in_folder(url: str) -> str | None:
    """``/guide/install/`` → ``/guide/install/index.md``."""
    return url + "index.md" if url.endswith("/") else None


TWIN_FORMS: Final[dict[str, Callable[[str], str | None]]] = {
    "beside": _beside_html,
    "after": _after_html,
    "folder": _named_after_folder,
    "index": _in_folder,
}


def twin_of(url: str, form: str) -> str | None:
    """None where the form does not fit the address. An address with a query has no twin."""
    make = TWIN_FORMS.get(form)
    return None if make is None or "?" in url else make(url)


def form_between(url: str, twin: str) -> str | None:
    """By which form a page's Markdown is where the page says; None if by none that we know."""
    return next((form for form in TWIN_FORMS if twin_of(url, form) == twin), None)
