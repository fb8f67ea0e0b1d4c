"""The cookies of a browser's session, and the file that extensions, curl and wget write them to (Netscape
format).

Each cookie goes to the sites that the user gave, and of those only where it belongs: to no other host below
its domain, and so to no stranger below a public suffix.
"""

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from sumi.errors import UsageError
from sumi.fetch.target import Target

_HTTP_ONLY: Final = "#HttpOnly_"
_COLUMNS: Final = 7
_MOST_BYTES: Final = 4 * 1024 * 1024
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")
_VALUE: Final = re.compile(r"[\x20-\x3a\x3c-\x7e]{0,4096}")  # printable, without a semicolon


class BrowserCookie(NamedTuple):
    domain: str
    for_subdomains: bool
    path: str
    secure: bool
    expires: float  # 0: with the session
    name: str
    value: str

    @property
    def can_be_sent(self) -> bool:
        """Nothing in it could end a header or begin another cookie."""
        plain = _NAME.fullmatch(self.name) and _VALUE.fullmatch(self.value)
        return plain is not None and self.path.startswith("/")

    def belongs_to(self, site: Target) -> bool:
        """Whether a browser would send it to the page that the user named."""
        scheme, host, _ = site.origin
        below = self.for_subdomains and "." in self.domain and host.endswith(f".{self.domain}")
        if (host != self.domain and not below) or (self.secure and scheme != "https"):
            return False
        page = "/" + site.url.split("/", 3)[3].partition("?")[0]
        under = page == self.path or page.startswith(self.path.removesuffix("/") + "/")
        return under and self._keeps_its_prefix()

    def _keeps_its_prefix(self) -> bool:
        if self.name.startswith("__Host-"):
            return self.secure and self.path == "/" and not self.for_subdomains
        return self.secure or not self.name.startswith("__Secure-")


def cookie_header(cookies: Sequence[BrowserCookie], site: Target, now: float, source: str) -> str:
    """The value of the ``Cookie`` header for a site. Raises UsageError, without any value in it, if there is
    none; ``source`` says where they are from."""
    ours = [cookie for cookie in cookies if cookie.belongs_to(site)]
    fresh = [cookie for cookie in ours if not cookie.expires or cookie.expires > now]
    if not fresh:
        why = "its cookies for {} have expired: log in again" if ours else "no cookie for {}"
        raise UsageError(f"{source}: {why.format(site.host)}")
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in fresh)


def read_cookie_file(path: Path) -> list[BrowserCookie]:
    try:
        with path.open("rb") as file:
            lines = file.read(_MOST_BYTES).decode("utf-8", "replace").splitlines()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    found = [cookie for line in lines if (cookie := _cookie(line)) is not None]
    if not found:
        raise UsageError(
            f"{path} has no cookie in it: it must be in the Netscape format, seven columns with tabs between"
        )
    return found


def readable_by_others(path: Path) -> bool:
    return bool(os.stat(path).st_mode & (stat.S_IRGRP | stat.S_IROTH))


def _cookie(line: str) -> BrowserCookie | None:
    columns = line.removeprefix(_HTTP_ONLY).split("\t")
    if len(columns) != _COLUMNS or columns[0].startswith("#"):
        return None
    domain, below, path, secure, expires, name, value = columns
    try:
        until = float(expires)
    except ValueError:
        return None
    host = domain.removeprefix(".").lower()
    found = BrowserCookie(host, below.upper() == "TRUE", path, secure.upper() == "TRUE", until, name, value)
    return found if found.can_be_sent else None
