"""Other addresses to try for a page: another spelling of its URL, or its source as Markdown."""

import re
from collections.abc import Callable
from typing import Final

from sumi.urls.parts import origin, split
from sumi.urls.rules import Rules

# Spellings of one URL have the same identity. The other spelling is the identity itself; if that was
# requested, it is the one with a slash at its end, or with ``www.`` before the host.
_WWW: Final = "://www."
# A path with a file extension is no folder: trying it with a slash at its end is not worth a request.
_FILE: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}\Z")


def other_path(target: str, identity: str, rules: Rules) -> str | None:
    """For a page that was not found: the same site, another path or query."""
    site = origin(target)
    other = site + identity[len(origin(identity)) :]
    if other != target:
        return other
    path, mark, query = identity[len(origin(identity)) :].partition("?")
    if not rules.strip_trailing_slash or path.endswith("/") or _FILE.search(path):
        return None
    return f"{site}{path}/{mark}{query}"


def other_name(target: str, identity: str, rules: Rules) -> str | None:
    """For a host that did not resolve: the same path under another host name."""
    site, bare = origin(target), origin(identity)
    if site != bare:
        return bare + target[len(site) :]
    return target.replace("://", _WWW, 1) if rules.strip_www and _takes_www(bare) else None


def _takes_www(site: str) -> bool:
    """A name of several labels; not an IP address."""
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
    """None if the form does not fit the address. An address with a query has no twin."""
    make = TWIN_FORMS.get(form)
    return None if make is None or "?" in url else make(url)


def form_between(url: str, twin: str) -> str | None:
    """The form that leads from a page to the Markdown that it announces; None if there is none."""
    return next((form for form in TWIN_FORMS if twin_of(url, form) == twin), None)
