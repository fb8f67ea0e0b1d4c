"""What a sitemap lists, and what had to be left out; and the plain text format, a URL per line."""

import re

import ada_url

MANY = 50_000  # the format's limit per file; more are taken, with a remark
MAX_ADDRESS = 8192
_MAX_DATE = 64
_WEB = ("http://", "https://")
_INVISIBLE = str.maketrans("", "", "\t\r\n")


class StopReading(Exception):
    """Raised with the reason by the reader of a format, caught by ``SitemapReader``."""


class Listing:
    """Distinct absolute addresses in the order of the file."""

    def __init__(self, base_url: str, max_entries: int) -> None:
        self.pages: dict[str, str | None] = {}  # with the date of last change, as written
        self.children: dict[str, None] = {}
        self.base_url = base_url
        self._max_entries = max_entries
        self._too_long = 0
        self._no_address = 0

    def add_page(self, address: str, date: str | None) -> str | None:
        """The page's absolute address, or None if it was left out."""
        url = self._absolute(address)
        if url is not None:
            self._check_room(url, self.pages)
            self.pages[url] = date or self.pages.get(url)
        return url

    def add_child(self, address: str) -> None:
        url = self._absolute(address)
        if url is not None:
            self._check_room(url, self.children)
            self.children[url] = None

    def problems(self) -> list[str]:
        found = []
        if max(len(self.pages), len(self.children)) > MANY:
            found.append(f"it lists more than {MANY:,} addresses, the format's limit")
        if self._too_long:
            found.append(f"addresses over {MAX_ADDRESS:,} characters, left out: {self._too_long:,}")
        if self._no_address:
            found.append(f"entries without an http(s) address, left out: {self._no_address:,}")
        return found

    def _check_room(self, url: str, known: dict[str, str | None] | dict[str, None]) -> None:
        if len(known) >= self._max_entries and url not in known:
            raise StopReading(f"it was read up to the limit of {self._max_entries:,} addresses")

    def _absolute(self, address: str) -> str | None:
        text = address.strip()
        if not text.isprintable():
            text = text.translate(_INVISIBLE)  # as browsers do
        if len(text) > MAX_ADDRESS:
            self._too_long += 1
            return None
        url = text if is_web_address(text) else self._joined(text)
        if url is None:
            self._no_address += 1
        return url

    def _joined(self, text: str) -> str | None:
        if not text:
            return None
        try:
            url: str = ada_url.join_url(self.base_url, text)
        except ValueError:
            return None
        return url if url.startswith(_WEB) else None


def is_web_address(text: str) -> bool:
    return text[:8].lower().startswith(_WEB)


def clean_date(text: str) -> str | None:
    return text.strip()[:_MAX_DATE] or None


# Not the start of a comment: some sites answer with a script.
_ROOTED = re.compile(r"/(?:[^\s/*]\S*)?\Z")
# Absolute, or from the root: what another path is relative to differs from generator to generator.
_MARKDOWN_LINK = re.compile(r"\[[^\]]{0,1000}\]\(<?((?:https?://|/)[^\s)>]+)")
_WWW = "www."


class LineSitemap:
    """One URL per line, or Markdown with links, as in llms.txt. Anything else is skipped and counted.

    The standard requires absolute URLs. A path from the site's root, and a host of this site without a
    scheme, are unambiguous and accepted, too. ``page.html`` could be a host.
    """

    format = "text"

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._unfinished = ""
        self._other_lines = 0
        self._scheme, self._site = _scheme_and_site(listing.base_url)

    def feed(self, text: str) -> None:
        lines = (self._unfinished + text).replace("\r", "\n").split("\n")
        # Longer lines do not count, so no more of them is kept.
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
        return [f"lines that are not http(s) URLs, left out: {self._other_lines:,}"]

    def _take(self, line: str) -> None:
        links = _MARKDOWN_LINK.findall(line)
        if links:
            for link in links:
                self._listing.add_page(link, None)
        elif is_web_address(line) or _ROOTED.match(line):
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
