"""The plainest sitemap: one absolute URL per line. Whatever else stands there is passed over and counted."""

from sumi.parse.sitemap_listing import MAX_ADDRESS, Listing

_WEB = ("http://", "https://")


class LineSitemap:
    format = "text"

    def __init__(self, listing: Listing) -> None:
        self._listing = listing
        self._unfinished = ""
        self._other_lines = 0

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
        if line[:8].lower().startswith(_WEB):
            self._listing.add_page(line, None)
        elif line and not line.startswith("#"):
            self._other_lines += 1
