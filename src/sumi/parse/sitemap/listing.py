"""What a sitemap lists, however it is written, and what had to be left out."""

import ada_url

MANY = 50_000  # the format's own limit per file; more is taken, and said
MAX_ADDRESS = 8192
_MAX_DATE = 64
_WEB = ("http://", "https://")
_INVISIBLE = str.maketrans("", "", "\t\r\n")


class StopReading(Exception):
    """Raised by a reader of one format with the reason, caught by the reader of them all."""


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
