"""Scripts and style sheets of a run, kept in memory: every page of a site asks for the same few.

Each page has a browser context of its own, so without this a site would send its application once per page.
"""

from collections import OrderedDict
from typing import TypeAlias

from sumi.model import Response

_MOST_BYTES = 64 * 1024 * 1024
_KEPT_STATUS = 200
_KEPT_TYPES = frozenset({"text/javascript", "application/javascript", "application/x-javascript", "text/css"})

Key: TypeAlias = tuple[bool, str]  # whether asked for with what the user confided, and the URL


class Shelf:
    def __init__(self) -> None:
        self._kept: OrderedDict[Key, Response] = OrderedDict()
        self._bytes = 0

    def get(self, key: Key) -> Response | None:
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def put(self, key: Key, response: Response) -> None:
        if not _may_be_kept(response) or key in self._kept:
            return
        self._kept[key] = response
        self._bytes += len(response.body)
        while self._bytes > _MOST_BYTES:
            self._bytes -= len(self._kept.popitem(last=False)[1].body)


def _may_be_kept(response: Response) -> bool:
    """The server's word on caching is kept where it says no; a run is short enough for the rest."""
    media_type = (response.header("content-type") or "").partition(";")[0].strip().lower()
    control = (response.header("cache-control") or "").lower()
    asked_not_to = any(word in control for word in ("no-store", "no-cache", "private", "max-age=0"))
    depends = any(word in (response.header("vary") or "").lower() for word in ("*", "origin", "cookie"))
    personal = response.header("set-cookie") is not None
    fit = response.status == _KEPT_STATUS and media_type in _KEPT_TYPES
    return fit and not (asked_not_to or depends or personal)
