"""``list_sites`` and ``list_pages``."""

import time
from collections import Counter
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from sumi.agents.arguments import Arguments
from sumi.agents.wording import LONGEST_URL, listed, one_line, quoted
from sumi.catalogue.find import JobKind, mirror_counts
from sumi.corpus.library import Library, SiteRow
from sumi.corpus.tokens import estimate

_MARKS: Final = 24


def list_sites(library: Library, given: Arguments, budget: int) -> str:
    wanted = given.text("filter").lower()
    sites = [
        site for site in library.sites() if wanted in site.host or wanted in site.source.lower() or not wanted
    ]
    if not sites:
        hosts = ", ".join(dict.fromkeys(site.host for site in library.sites()[:20])) or "none"
        return (
            f"No captured site has {one_line(wanted, 80)!r} in its name. There are: {one_line(hosts, 800)}."
        )
    lines = [_site_line(site) for site in sites]
    return quoted(listed(lines, budget - _MARKS, lambda left: f"({left} more: give a filter)"))


def _site_line(site: SiteRow) -> str:
    line = f"- {one_line(site.host, 120)}: {site.pages:,} pages, {site.tokens:,} tokens"
    if site.kind is JobKind.MAP:
        line = f"- {one_line(site.host, 120)}: {site.pages:,} titles on a map, no texts"
    if site.fetched_at:
        line += time.strftime(", last %Y-%m-%d", time.gmtime(site.fetched_at))
    counts = mirror_counts(site.store.root / site.key) if site.kind is JobKind.MIRROR else None
    if counts and counts.failed:
        line += f", {max(1, round(100 * counts.failed / max(1, counts.pages)))} % failed"
    return line if site.kind is JobKind.MIRROR else f"{line} ({site.kind} {one_line(site.source, 60)})"


class _Page(NamedTuple):
    path: str
    title: str
    tokens: int


def list_pages(library: Library, given: Arguments, budget: int) -> str:
    name = given.required("site")
    sites = library.sites(name)
    under = given.text("under", "/") or "/"
    under = under if under.startswith("/") else f"/{under}"
    pages = [page for page in _pages(sites) if page.path.startswith(under)]
    if not pages:
        return (
            f"{one_line(sites[0].host, 120)} has no page below {one_line(under)}: list_pages without under."
        )
    limit, offset = given.number("limit", 100, 1, 1000), given.number("offset", 0, 0, 10**9)
    if offset >= len(pages):
        return f"There are only {len(pages):,} pages below {one_line(under)}."
    head = f"{one_line(sites[0].host, 120)}: {len(pages):,} pages below {one_line(under)}"
    room = budget - _MARKS - 30 - estimate(head)
    folders = _folders(pages, under) if not offset and len(pages) > limit else []
    if folders:
        body = listed(folders, room, lambda left: f"({left} more)")
        return f"{quoted(f'{head}, by folder:{chr(10)}{body}')}\nThen list_pages with under."
    chosen = pages[offset : offset + limit]
    shown = [
        f"- {one_line(page.path, LONGEST_URL)} {one_line(page.title, 100)} ({page.tokens:,})"
        for page in chosen
    ]
    after = offset + len(chosen)
    body = listed(shown, room, lambda left: f"(go on with offset={after - left})")
    more = f"\nGo on with offset={after}." if after < len(pages) and "(go on" not in body else ""
    return quoted(f"{head}\n{body}") + more


def _pages(sites: list[SiteRow]) -> list[_Page]:
    found: dict[str, _Page] = {}
    for site in sites:
        for url, title, tokens in site.store.rows(
            "SELECT url, title, tokens FROM page WHERE site = ? ORDER BY url", (site.id,)
        ):
            found.setdefault(url, _Page(_path(url), title, tokens))
    return list(found.values())


def _path(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"


def _folders(pages: list[_Page], under: str) -> list[str]:
    """The next level below a path; none if nothing is below it but pages."""
    base = under if under.endswith("/") else under[: under.rfind("/") + 1]
    counts: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    direct: list[_Page] = []
    for page in pages:
        step, slash, _ = page.path[len(base) :].partition("?")[0].partition("/")
        if not slash:
            direct.append(page)
            continue
        counts[step] += 1
        tokens[step] += page.tokens
    if not counts:
        return []
    lines = [
        f"- {one_line(f'{base}{step}/', LONGEST_URL)} {number:,} pages ({tokens[step]:,})"
        for step, number in sorted(counts.items())
    ]
    return lines + [
        f"- {one_line(page.path, LONGEST_URL)} {one_line(page.title, 100)} ({page.tokens:,})"
        for page in direct
    ]
