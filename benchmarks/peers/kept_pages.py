"""What every peer's script does alike: which links belong to the job, and where a page is kept."""

from pathlib import Path

CONCURRENCY = 16  # requests at once: Sumi's default, for all


class KeptPages:
    """A page's file has its URL's path; what is appended to the name is the suffix."""

    def __init__(self, origin: str, folder: Path, suffix: str = "") -> None:
        self._origin = origin
        self._folder = folder / "pages"
        self._suffix = suffix
        folder.mkdir(parents=True, exist_ok=True)
        self._links = (folder / "links.txt").open("w", encoding="utf-8")

    def keep(self, url: str, data: bytes) -> None:
        target = self._folder / (url.removeprefix(self._origin).lstrip("/") + self._suffix)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def keep_links(self, url: str, links: set[str]) -> None:
        self._links.write(f"{url}\t{' '.join(links)}\n")


def wanted(origin: str, url: str) -> str:
    """The URL without its fragment if it belongs to the job, else nothing."""
    url = url.partition("#")[0]
    return url if url.startswith(f"{origin}/") and url.endswith(".html") and "?" not in url else ""
