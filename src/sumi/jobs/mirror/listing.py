"""The pages that a site's sitemaps list, for people and for programs."""

from enum import StrEnum

import msgspec

from sumi.files.plain_text import markdown_text, markdown_url, one_line
from sumi.outcomes import MEANINGS, Ending, Outcome
from sumi.ports import Ledger


class ListFormat(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"
    TEXT = "text"


class ReadSitemap(msgspec.Struct, frozen=True):
    url: str
    says: str  # what it holds, or what is wrong with it
    ok: bool


class ListedPage(msgspec.Struct, frozen=True):
    url: str
    sitemap: str | None


class Listing(msgspec.Struct, frozen=True):
    site: str
    sitemaps: list[ReadSitemap]
    pages: list[ListedPage]
    left_out: dict[str, int]  # listed, but not what a mirror with these settings would take; by outcome


async def read_listing(site: str, ledger: Ledger) -> Listing:
    sitemaps: list[ReadSitemap] = []
    pages: list[ListedPage] = []
    left_out: dict[str, int] = {}
    async for record in ledger.records(None):
        if record.kind == "sitemap":
            if record.outcome is not Outcome.ABSENT:
                sitemaps.append(ReadSitemap(record.url, record.rule, record.outcome is Outcome.READ))
        elif record.outcome is Outcome.LISTED:
            pages.append(ListedPage(record.url, record.referrer))
        elif MEANINGS[record.outcome].ending is Ending.PASSED_OVER:
            left_out[record.outcome.value] = left_out.get(record.outcome.value, 0) + 1
    return Listing(site, sitemaps, pages, left_out)


def written(listing: Listing, form: ListFormat) -> str:
    match form:
        case ListFormat.JSON:
            return msgspec.json.format(msgspec.json.encode(listing), indent=2).decode() + "\n"
        case ListFormat.TEXT:
            return "".join(f"{one_line(page.url)}\n" for page in listing.pages)
        case ListFormat.MARKDOWN:
            return _markdown(listing)


def _markdown(listing: Listing) -> str:
    lines = [f"# {markdown_text(listing.site)}", "", f"{_counted(len(listing.pages), 'page')} listed.", ""]
    lines += [f"- {markdown_url(sitemap.url)}: {markdown_text(sitemap.says)}" for sitemap in listing.sitemaps]
    if listing.left_out:
        words = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in listing.left_out.items())
        lines += ["", f"Left out: {words}."]
    lines += ["", "## Pages", "", *(f"- {markdown_url(page.url)}" for page in listing.pages), ""]
    return "\n".join(lines)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
