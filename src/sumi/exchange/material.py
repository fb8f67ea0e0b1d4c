"""What is exported: the listed pages of some jobs, with their texts and bodies, as of one moment."""

import posixpath
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final, TypeVar
from urllib.parse import unquote

import msgspec

from sumi.catalogue.find import Job, JobKind
from sumi.catalogue.pages import CapturedPage, Form, Pages, open_pages
from sumi.errors import SumiError
from sumi.exchange.listing import Listed, Listing
from sumi.history.recorder import FOLDER as HISTORY
from sumi.history.store import DATABASE, History
from sumi.model import Kind
from sumi.parse.markdown.link_targets import replace_targets
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.policy import Preset

_AT_ONCE: Final = 500
# What a mirror rewrote to a file has no scheme.
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|\Z")
_MOST_NAMED: Final = 20

T = TypeVar("T")


class Material:
    """``tick`` is called for every page that is read: it tells the progress, and raises to end the export."""

    def __init__(self, jobs: Sequence[Job], pages: Sequence[Pages], listing: Listing, moment: float) -> None:
        self.jobs = jobs
        self.listing = listing
        self.moment = moment
        self.missing: list[str] = []  # URLs of the first pages that could not be read
        self.missing_count = 0
        self.tick: Callable[[], None] = lambda: None
        self._pages = pages
        self._histories: dict[int, History | None] = {}

    def close(self) -> None:
        for history in self._histories.values():
            if history is not None:
                history.close()

    def texts(self, listed: Iterator[Listed]) -> Iterator[tuple[Listed, str]]:
        """Each page with its Markdown, in which every link is absolute. Pages whose text is not there any
        more are left out and counted."""
        for one in listed:
            self.tick()
            found = self._read(one)
            if found is None:
                self._miss(one.page.url)
            else:
                yield found

    def body(self, one: Listed) -> bytes | None:
        """As the server sent it, if that was kept."""
        pages = self._pages[one.job]
        if one.page.form is not Form.FILE:
            return pages.original(one.page)
        content = pages.read(one.page)
        return None if content is None else content.data

    def miss_body(self, one: Listed) -> None:
        self._miss(one.page.url)

    def title(self) -> str:
        """A name for all of it: the host of the pages, or the jobs' own names."""
        names = dict.fromkeys(_name(job) for job in self.jobs)
        return ", ".join([*names][:3]) + (" and more" if len(names) > 3 else "")

    def _miss(self, url: str) -> None:
        self.missing_count += 1
        if len(self.missing) < _MOST_NAMED:
            self.missing.append(url)

    def _read(self, one: Listed) -> tuple[Listed, str] | None:
        content = self._pages[one.job].read(one.page)
        data = self._earlier(one) if content is None else content.data
        if data is None or one.page.form is Form.NONE:
            return None
        if one.page.form is Form.HTML:
            return self._converted(one, data)
        text = data.decode("utf-8", "replace")
        if one.page.path:
            text = replace_targets(text, lambda target: self._of_web(one, target))
        return one, text

    def _earlier(self, one: Listed) -> bytes | None:
        """The text of that moment from the history, where a run has replaced the page's file since."""
        history = self._history(one.job)
        if history is None:
            return None
        # By its URL: the hash is that of a file in which links may have been rewritten.
        until = [version for version in history.versions(one.page.url) if version.at <= self.moment]
        digest = until[-1].sha256 if until else None
        return None if digest is None else history.text(digest)

    def _history(self, number: int) -> History | None:
        if number not in self._histories:
            folder = self.jobs[number].state / HISTORY
            try:
                self._histories[number] = History(folder) if (folder / DATABASE).is_file() else None
            except SumiError:  # a damaged history must not cost the pages that are there
                self._histories[number] = None
        return self._histories[number]

    def _of_web(self, one: Listed, target: str) -> str | None:
        """The URL that a link to a file of the mirror stands for."""
        address, _, fragment = target.partition("#")
        if _ABSOLUTE.match(address):
            return None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(one.page.path), unquote(address)))
        url = self.listing.url_of_path(one.job, path)
        return None if url is None else in_brackets(f"{url}#{fragment}" if fragment else url)

    def _converted(self, one: Listed, body: bytes) -> tuple[Listed, str] | None:
        """An archive keeps pages as they came."""
        found = digested(one.page.address or one.page.url, body, one.page.content_type)
        if found is None:
            return None
        page = one.page
        if not page.title and found.title:
            one = one._replace(page=_titled(page, found))
        return one, (found.markdown or "").strip("\n") + "\n"


def digested(url: str, body: bytes, content_type: str) -> PageDigest | None:
    """Parses a page that is kept as the server sent it; None if it is not a page."""
    from sumi.parse.page.digester import digest  # loads the parser, which most exports do without

    request = DigestRequest(url, body, content_type or "text/html", Kind.PAGE, Preset.MIRROR, markdown=True)
    found = digest(request)
    return found if isinstance(found, PageDigest) and found.markdown else None


def in_brackets(target: str) -> str:
    """A link's target as it may stand in Markdown."""
    return f"<{target}>" if set(target) & set(" ()<>") else target


def _titled(page: CapturedPage, found: PageDigest) -> CapturedPage:
    return msgspec.structs.replace(
        page, title=found.title or "", language=page.language or found.language or ""
    )


def _name(job: Job) -> str:
    return job.target or job.name if job.kind is JobKind.CAPTURE else job.name.partition("/")[0]


@asynccontextmanager
async def open_material(jobs: Sequence[Job], moment: float) -> AsyncIterator[Material]:
    listing = Listing()
    async with AsyncExitStack() as opened:
        opened.callback(listing.close)
        sources: list[Pages] = []
        for number, job in enumerate(jobs):
            pages = await opened.enter_async_context(open_pages(job))
            sources.append(pages)
            await _list(number, pages, listing)
        material = Material(jobs, sources, listing, moment)
        opened.callback(material.close)
        yield material


async def _list(number: int, pages: Pages, listing: Listing) -> None:
    async for batch in _batches(pages.all()):
        listing.add(number, batch)
        listing.add_aliases([(page.source, page.url) for page in batch if page.source])
    async for aliases in _batches(pages.aliases()):
        listing.add_aliases(aliases)
    async for batch in _batches(pages.files()):
        listing.add(number, batch)


async def _batches(items: AsyncIterator[T]) -> AsyncIterator[list[T]]:
    batch: list[T] = []
    async for item in items:
        batch.append(item)
        if len(batch) >= _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
