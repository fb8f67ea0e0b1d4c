"""``crawl_metadata.jsonl``: what the pages CSV tells of a page, as a JSON object a line, exact."""

from collections.abc import Iterator

import msgspec

from sumi.jobs.pipeline.page_rows import identity, is_kept_page, page_row
from sumi.ports import UrlRecord

_encode = msgspec.json.Encoder().encode


class _Identity(msgspec.Struct):
    url: str
    timestamp: int


_decode = msgspec.json.Decoder(_Identity).decode


class CrawlMetadata:
    """Implements ``sumi.jobs.pipeline.ledger_copies.LineFormat``."""

    header = b""

    def line(self, record: UrlRecord) -> bytes | None:
        return _encode(page_row(record)) if is_kept_page(record) else None

    def identities(self, lines: Iterator[bytes]) -> Iterator[int]:
        for line in lines:
            try:
                known = _decode(line)
            except msgspec.MsgspecError:
                continue
            yield identity(known.url, known.timestamp)
