"""The plainest sitemap: one URL per line. Whatever else stands there is passed over and counted.

The standard wants whole URLs. A path from the site's root, and a host of this site without a scheme, can mean
one thing only and are taken too. ``page.html`` could be a host.
"""

import re

import ada_url

from sumi.parse.sitemap.listing import MAX_ADDRESS, Listing, is_web_address

# Not the beginnings of comments in scripts, which are sent in place of lists.
_ROOTED = re.compile(r"/(?:[^\s/*]\S*)?\Z")
_WWW = "www."


class LineSitemap:
    format = "text"

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._unfinished = ""
        self._other_lines = 0
        self._scheme, self._site = _scheme_and_site(listing.base_url)

    def feed(self, text: str) -> None:
        lines = (self._unfinished + text).replace("\r", "\n").split("\n")
        # No line can count that is longer, so no more of it is kept.
        self._unfinished = lines.pop()[: MAX_ADDRESS + 1]
        for line in lines:
            self._take(line.strip())

    def close(self) -> None:
        self._take(self._unfinished.strip())

    def problems(self) -> list[str]:
        if not self._other_lines:
            return []
        if not self._listing.pages:
            return ["not a sitemap: neither XML nor a list of URLs"]
        return [f"lines that are no http(s) URL, left out: {self._other_lines:,}"]

    def _take(self, line: str) -> None:
        if is_web_address(line) or _ROOTED.match(line):
            self._listing.add_page(line, None)
        elif self._is_of_this_site(line):
            self._listing.add_page(f"{self._scheme}//{line}", None)
        elif line and not line.startswith("#"):
            self._other_lines += 1

    def _is_of_this_site(self, line: str) -> bool:
        host = line.partition("/")[0].lower()
        return bool(self._site) and (host.removeprefix(_WWW) == self._site or host.endswith(f".{self._site}"))


def _scheme_and_site(base_url: str) -> tuple[str, str]:
    try:
        base = ada_url.URL(base_url)
    except ValueError:
        return "", ""
    return str(base.protocol), str(base.host).removeprefix(_WWW)
