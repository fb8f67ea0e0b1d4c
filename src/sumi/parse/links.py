"""The links of a page that lead to other pages, wherever on it they are."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from sumi.parse.html import Document
from sumi.urls import LinkNormalizer


def page_links(
    document: Document, normalizer: LinkNormalizer, limit: int, also: Iterable[str] = ()
) -> tuple[list[str], int]:
    """Distinct URLs in document order, at most ``limit``; and how many more there were.
    ``also`` are hrefs that the page names elsewhere than in its links.

    Once the limit is reached hrefs are counted and not resolved: a page of a million links must not cost a
    million resolutions.
    """
    waiting = iter(dict.fromkeys(chain(_hrefs(document), also)))
    found: dict[str, None] = {}
    dropped = 0
    while len(found) < limit and (batch := list(islice(waiting, limit))):
        for url in normalizer.many(batch):
            if len(found) < limit:
                found[url] = None
            elif url not in found:
                dropped += 1
    return list(found), dropped + sum(1 for _ in waiting)


def _hrefs(document: Document) -> Iterator[str]:
    for link in document.iter_elements(("a", "area")):
        href = link.attr("href")
        # An address to save as a file is not a page, whatever its type turns out to be.
        if href is not None and link.attr("download") is None:
            yield href
    for frame in document.iter_elements("frame"):
        yield frame.attr("src") or ""
