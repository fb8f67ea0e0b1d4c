"""The links of a page that lead to other pages, wherever on it they are."""

from collections.abc import Iterable
from itertools import chain, islice

from sumi.parse.html import Document, Element
from sumi.urls import LinkNormalizer


def page_links(
    document: Document, normalizer: LinkNormalizer, limit: int, also: Iterable[str] = ()
) -> tuple[list[str], int]:
    """Distinct URLs in document order, at most ``limit``; and how many more there were.
    ``also`` are hrefs that the page names elsewhere than in its links.

    Once the limit is reached hrefs are counted and not resolved: a page of a million links must not cost a
    million resolutions.
    """
    hrefs = dict.fromkeys(chain(_hrefs(document), also))
    if len(hrefs) <= limit:
        return normalizer.many(hrefs), 0
    waiting = iter(hrefs)
    found: dict[str, None] = {}
    dropped = 0
    while len(found) < limit and (batch := list(islice(waiting, limit))):
        for url in normalizer.many(batch):
            if len(found) < limit:
                found[url] = None
            elif url not in found:
                dropped += 1
    return list(found), dropped + sum(1 for _ in waiting)


def markdown_href(document: Document) -> str | None:
    """Where the page says that it is to be had as Markdown."""
    for link in document.select("link[type]"):
        if link.attr("type") == "text/markdown" and "alternate" in (link.attr("rel") or "").lower().split():
            return link.attr("href")
    return None


def download_hrefs(document: Document) -> list[str]:
    """What the page itself calls something to save; see ``_hrefs``."""
    return [link.attr("href") or "" for link in document.select("a[download]") if link.attr("href")]


def _hrefs(document: Document) -> list[str]:
    links = _links(document)
    if document.select_one("a[download]") is not None or document.select_one("area[download]") is not None:
        # An address to save as a file is not a page, whatever its type turns out to be.
        links = [link for link in links if link.attr("download") is None]
    hrefs = [link.attr("href") or "" for link in links]
    hrefs.extend(frame.attr("src") or "" for frame in document.find_all("frame"))
    return hrefs


def _links(document: Document) -> list[Element]:
    """In the order of the page, which costs a walk over it where the links are of two kinds."""
    if document.find("area") is None:
        return document.select("a[href]")
    return document.select("a[href], area[href]")
