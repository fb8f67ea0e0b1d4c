"""Where a site may have a page's own Markdown, by the address of the page."""

from collections.abc import Callable
from typing import Final

from sumi.urls.parts import split


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
