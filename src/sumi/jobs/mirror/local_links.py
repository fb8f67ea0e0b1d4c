"""Rewrites links after a crawl: to the files of mirrored pages and assets, so that they work offline.

A link to something that is not in the mirror points at the web, even if it pointed at a file before. The pass
is idempotent.
"""

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote, urldefrag

from sumi.files.plain_text import markdown_target
from sumi.jobs.mirror.assets import stored_assets
from sumi.jobs.mirror.markdown_page import HEAD_END, with_body
from sumi.jobs.mirror.output import MarkdownTree
from sumi.jobs.mirror.survey import stored_pages
from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.parse.markdown.link_targets import replace_targets, targets_of
from sumi.parse.markdown.slugs import places_in
from sumi.policy import Preset
from sumi.ports import Frontier, Ledger, UrlRecord
from sumi.urls import normalize
from sumi.urls.paths import digest_of

BATCH = 500
MOVED = frozenset({Outcome.REDIRECTED, Outcome.DUPLICATE, Outcome.GONE})
# Our relative paths have no scheme; a link with one, or an empty link, is not ours.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|\Z")
MAX_HOPS = 32  # redirects in a row; this also ends a loop


class LocalLinks:
    """The file of each URL. Paths are relative to the output root."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}
        self._urls: dict[str, str] = {}
        self._dead: set[int] = set()  # places in files of the mirror that links name and that are not there

    def learn(self, record: UrlRecord, *, wanted: bool = True) -> None:
        """A page or asset that has or had a file. If not ``wanted``, links to it point at the web."""
        facts = record.facts
        if facts.path is not None:
            if wanted:
                self._paths[record.url] = facts.path
            self._urls[facts.path] = record.url
        if facts.was_path is not None:
            self._urls.setdefault(facts.was_path, record.url)

    def learn_aliases(self, targets: dict[str, str]) -> None:
        """URLs that redirect to a mirrored page, perhaps through others, or are duplicates of one."""
        for url in targets:
            path = self._paths.get(_end_of(url, targets))
            if path is not None:
                self._paths.setdefault(url, path)

    def applied(self, data: bytes, facts: PageFacts) -> tuple[bytes, PageFacts]:
        """A page's file with its links up to date, and the facts to record for it."""
        _, end, body = data.partition(HEAD_END)
        if facts.path is None or not end:
            return data, facts
        folder = posixpath.dirname(facts.path)
        text = replace_targets(body.decode("utf-8", "replace"), lambda target: self._link(target, folder))
        return with_body(data, facts, text.encode("utf-8", "replace"))

    def places_wanted(self, data: bytes, facts: PageFacts) -> Iterator[int]:
        """The files that the page's links lead to, as digests."""
        _, end, body = data.partition(HEAD_END)
        if facts.path is None or not end or b"#" not in body:
            return
        folder = posixpath.dirname(facts.path)
        for target in targets_of(body.decode("utf-8", "replace")):
            address, fragment = urldefrag(target)
            path = self._file_of(address, folder) if fragment else None
            if path is not None:
                yield _place(path, fragment)

    def places_of(self, data: bytes, facts: PageFacts) -> Iterator[int]:
        """Those in a page that links can lead to, as digests."""
        if facts.path is not None:
            yield from (_place(facts.path, place) for place in places_in(data.decode("utf-8", "replace")))

    def learn_dead(self, places: set[int]) -> None:
        """Links to these lead to the page instead."""
        self._dead = places

    def _file_of(self, address: str, folder: str) -> str | None:
        """The file that a link leads to, once it is rewritten."""
        if _SCHEME.match(address):
            url = normalize(address, Preset.MIRROR) if address.startswith(("http:", "https:")) else None
            return None if url is None else self._paths.get(url)
        path = posixpath.normpath(posixpath.join(folder, unquote(address)))
        url = self._urls.get(path)
        return None if url is None else self._paths.get(url)

    def _link(self, target: str, folder: str) -> str | None:
        address, fragment = urldefrag(target)
        path = self._file_of(address, folder)
        if path is not None:
            is_dead = bool(fragment) and _place(path, fragment) in self._dead
            suffix = "" if is_dead or not fragment else f"#{fragment}"
            return markdown_target(posixpath.relpath(path, folder)) + suffix
        if _SCHEME.match(address):
            return None
        url = self._urls.get(posixpath.normpath(posixpath.join(folder, unquote(address))))
        if url is None:
            return None
        whole = f"{url}#{fragment}" if fragment else url
        return f"<{whole}>" if set(whole) & set(" ()<>") else whole


def _place(path: str, fragment: str) -> int:
    return digest_of(f"{path}#{unquote(fragment)}")


def _end_of(url: str, targets: dict[str, str]) -> str:
    for _ in range(MAX_HOPS):
        if url not in targets:
            break
        url = targets[url]
    return url


async def link_pages(
    ledger: Ledger, frontier: Frontier, tree: MarkdownTree, *, to_pages: bool, to_assets: bool
) -> int:
    """Update the links in every page; returns how many files were rewritten."""
    links = await local_links(ledger, to_pages=to_pages, to_assets=to_assets)
    if to_pages:
        links.learn_dead(await dead_places(links, ledger, tree))
    rewritten = 0
    amended: dict[str, PageFacts] = {}
    async for record in stored_pages(ledger):
        data = tree.read_page(record.facts)
        if data is None:
            continue
        new, facts = links.applied(data, record.facts)
        if new != data:
            tree.replace_page(facts, new)
            rewritten += 1
        if facts != record.facts:  # also after a kill between writing the file and recording it
            amended[record.url] = facts
        if len(amended) >= BATCH:
            await _amend(amended, frontier, tree)
            amended = {}
    await _amend(amended, frontier, tree)
    return rewritten


async def dead_places(links: LocalLinks, ledger: Ledger, tree: MarkdownTree) -> set[int]:
    """Every place that a link of the mirror names, less those that are there: two readings of all pages, and
    in memory no more than the distinct targets of links."""
    wanted: set[int] = set()
    async for record in stored_pages(ledger):
        wanted.update(links.places_wanted(tree.read_page(record.facts) or b"", record.facts))
    if not wanted:
        return wanted
    async for record in stored_pages(ledger):
        wanted.difference_update(links.places_of(tree.read_page(record.facts) or b"", record.facts))
    return wanted


async def _amend(amended: dict[str, PageFacts], frontier: Frontier, tree: MarkdownTree) -> None:
    if amended:
        await tree.sync()  # or a power cut could leave a record without its file
        await frontier.amend(amended)


async def local_links(ledger: Ledger, *, to_pages: bool, to_assets: bool) -> LocalLinks:
    links = LocalLinks()
    targets: dict[str, str] = {}
    async for record in stored_pages(ledger):
        links.learn(record, wanted=to_pages)
        if record.facts.source is not None:
            targets[record.facts.source] = record.url  # a site's own Markdown links to these
    async for record in stored_assets(ledger):
        links.learn(record, wanted=to_assets)
    async for record in ledger.records(MOVED):
        links.learn(record)
        target = record.facts.location or record.facts.duplicate_of
        if target is not None:
            targets[record.url] = target
    links.learn_aliases(targets)
    return links
