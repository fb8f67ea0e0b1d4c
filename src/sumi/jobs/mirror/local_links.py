"""Links that work offline: to the files of mirrored pages, fragments kept, and to images and other files.

A link whose target is not here, or not to be linked to, points at the web, also after it has pointed at a
file. So the same pass over a page can be made any number of times, and brings it in line with today.
"""

import posixpath
import re
from hashlib import sha256
from urllib.parse import unquote, urldefrag

import msgspec

from sumi.files.plain_text import markdown_target
from sumi.jobs.mirror.markdown_page import HEAD_END
from sumi.model import PageFacts
from sumi.parse.markdown.link_targets import replace_targets
from sumi.policy import Preset
from sumi.ports import UrlRecord
from sumi.urls import normalize

_HASH_LINE = re.compile(rb'^sha256: "[0-9a-f]*"$', re.MULTILINE)
# A relative path of ours has no scheme; what has one, or is empty, was never made by us.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|\Z")
MOST_HOPS = 32  # of redirects in a row; also the end of a circle


class LocalLinks:
    """Which URL has which file. Paths are below the output root."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}
        self._urls: dict[str, str] = {}

    def learn(self, record: UrlRecord, *, wanted: bool = True) -> None:
        """Something with a file, or whose file is gone. Not ``wanted``: links to it point at the web."""
        facts = record.facts
        if facts.path is not None:
            if wanted:
                self._paths[record.url] = facts.path
            self._urls[facts.path] = record.url
        if facts.was_path is not None:
            self._urls.setdefault(facts.was_path, record.url)

    def learn_aliases(self, targets: dict[str, str]) -> None:
        """URLs that redirect to what is here, also by way of others, or are duplicates of it."""
        for url in targets:
            path = self._paths.get(_end_of(url, targets))
            if path is not None:
                self._paths.setdefault(url, path)

    def applied(self, data: bytes, facts: PageFacts) -> tuple[bytes, PageFacts]:
        """A page's file with its links as they should be today, and what is then recorded of it."""
        head, end, body = data.partition(HEAD_END)
        if facts.path is None or not end:
            return data, facts
        folder = posixpath.dirname(facts.path)
        text = replace_targets(body.decode("utf-8", "replace"), lambda target: self._link(target, folder))
        new_body = text.encode("utf-8", "replace")
        digest = sha256(new_body).hexdigest()
        new = _HASH_LINE.sub(b'sha256: "%s"' % digest.encode(), head, count=1) + end + new_body
        return new, msgspec.structs.replace(facts, size=len(new), sha256=digest)

    def _link(self, target: str, folder: str) -> str | None:
        address, fragment = urldefrag(target)
        suffix = f"#{fragment}" if fragment else ""
        if _SCHEME.match(address):
            url = normalize(address, Preset.MIRROR) if address.startswith(("http:", "https:")) else None
            path = None if url is None else self._paths.get(url)
            return None if path is None else markdown_target(posixpath.relpath(path, folder)) + suffix
        path = posixpath.normpath(posixpath.join(folder, unquote(address)))
        url = self._urls.get(path)
        if url is None or self._paths.get(url) == path:
            return None
        # As with an image whose content changed: the same address has another file.
        new = self._paths.get(url)
        if new is not None:
            return markdown_target(posixpath.relpath(new, folder)) + suffix
        return f"<{url}{suffix}>" if set(url) & set(" ()<>") else url + suffix


def _end_of(url: str, targets: dict[str, str]) -> str:
    for _ in range(MOST_HOPS):
        if url not in targets:
            break
        url = targets[url]
    return url
