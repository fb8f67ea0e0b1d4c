"""The Markdown of a captured page: as it is stored, or converted from the HTML that an archive keeps."""

from types import TracebackType
from typing import TYPE_CHECKING

from sumi.catalogue.pages import CapturedPage, Content, Form, Pages
from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.policy import Preset

if TYPE_CHECKING:
    from sumi.workers.pool import WorkerPool

_PROCESSES = 2


class Converter:
    """Converts HTML in processes of its own, which start with the first page that needs them."""

    def __init__(self) -> None:
        self._pool: WorkerPool | None = None

    async def __aenter__(self) -> "Converter":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            await self._pool.aclose()

    async def convert(self, address: str, content_type: str, body: bytes) -> bytes | None:
        if self._pool is None:
            from sumi.workers.pool import WorkerPool

            self._pool = WorkerPool(_PROCESSES)
        digest = await self._pool.digest(request(address, content_type, body))
        return (
            digest.markdown.encode("utf-8", "replace")
            if isinstance(digest, PageDigest) and digest.markdown
            else None
        )


async def as_markdown(page: CapturedPage, pages: Pages, converter: Converter) -> bytes | None:
    """None if it cannot be read, or a map keeps its title only."""
    content: Content | None = None if page.form is Form.NONE else pages.read(page)
    if content is None or page.form is not Form.HTML:
        return None if content is None else content.data
    return await converter.convert(page.address or page.url, page.content_type, content.data)


def request(address: str, content_type: str, body: bytes) -> DigestRequest:
    return DigestRequest(address, body, content_type, Kind.PAGE, Preset.MIRROR, markdown=True)
