"""A site's ``llms-full.txt``: asked for once a run, kept in parts, and handed out page by page."""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext

from sumi.engine.io import Io
from sumi.events import Warned
from sumi.model import Kind, Response, Timing
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.policy import Preset
from sumi.urls import origin
from sumi.urls.alternatives import TWIN_FORMS, twin_of

# Each may be as large as a page may be, and stays in memory until the run ends.
MOST_SITES = 4
# Nothing else of the file's headers: its validators would be taken for the page's.
MARKDOWN_TYPE = ("content-type", "text/markdown; charset=utf-8")


class FullTexts:
    def __init__(self, io: Io) -> None:
        self._io = io
        self._parts: dict[str, dict[str, str]] = {}  # by site; empty of one whose file is of no use
        self._locks: dict[str, asyncio.Lock] = {}

    def may_have(self, url: str) -> bool:
        """Whether the page may be in it, as far as is known."""
        if origin(url) not in self._parts:
            return len(self._parts) < MOST_SITES
        return self._part(url) is not None

    def turn(self, url: str) -> AbstractAsyncContextManager[None]:
        """To be held by who asks for the file, so that only one does."""
        site = origin(url)
        return nullcontext() if site in self._parts else self._locks.setdefault(site, asyncio.Lock())

    def answer_for(self, url: str) -> Response | None:
        """As if the page had been asked for alone. None: the file was not asked for yet."""
        if origin(url) not in self._parts:
            return None
        part, now = self._part(url), self._io.clock.now()
        timing = Timing(now, now, now)
        if part is None:
            return Response(url, 404, (), b"", timing)
        return Response(url, 200, (MARKDOWN_TYPE,), part.encode("utf-8", "replace"), timing)

    async def take(self, url: str, response: Response | None) -> None:
        """What came when it was asked for; None: nothing that could be one."""
        self._parts[origin(url)] = {} if response is None else await self._split(response)

    async def _split(self, response: Response) -> dict[str, str]:
        request = DigestRequest(
            response.url, response.body, "text/markdown", Kind.PAGE, Preset.MIRROR, full_text=True
        )
        digest = await self._io.digester.digest(request)
        parts = digest.parts if isinstance(digest, PageDigest) else {}
        if not parts:
            useless = "does not say which page each of its parts is from: it is not used"
            self._io.tell(Warned(f"{response.url} {useless}"))
        return parts

    def _part(self, url: str) -> str | None:
        """Under the page's own address, or that of its Markdown."""
        parts = self._parts[origin(url)]
        names = (url, url.removesuffix("/"), *(twin_of(url, form) for form in TWIN_FORMS))
        return next((parts[name] for name in names if name in parts), None)


def place_of_full_text(url: str) -> str:
    return f"{origin(url)}/llms-full.txt"
