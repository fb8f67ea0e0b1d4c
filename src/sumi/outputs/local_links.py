"""Links between mirrored pages that work offline: each points at the file of its page, fragments kept.

A link whose page is not here points at the web, also after it has pointed at a file that is gone since. So
the same pass over a file can be made any number of times, and brings it in line with what is here today.
"""

import posixpath
import re
from hashlib import sha256
from urllib.parse import unquote, urldefrag

import msgspec

from sumi.model import PageFacts
from sumi.parse.link_targets import replace_targets
from sumi.outputs.markdown_page import HEAD_END
from sumi.outputs.plain_text import markdown_target
from sumi.policy import Preset
from sumi.ports import UrlRecord
from sumi.urls import normalize

_HASH_LINE = re.compile(rb'^sha256: "[0-9a-f]*"$', re.MULTILINE)
# A relative path of ours has no scheme; what has one, or is empty, was never made by us.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|\Z")


class LocalLinks:
    """Which URL has which file. Paths are below the output root."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}
        self._urls: dict[str, str] = {}

    def learn(self, record: UrlRecord) -> None:
        """A page with a file, or one whose file is gone."""
        facts = record.facts
        if facts.path is not None:
            self._paths[record.url] = facts.path
            self._urls[facts.path] = record.url
        elif facts.was_path is not None:
            self._urls.setdefault(facts.was_path, record.url)

    def learn_alias(self, url: str, target: str) -> None:
        """A URL that redirects to a page, or is its duplicate: its links lead there too."""
        path = self._paths.get(target)
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
        return f"<{url}{suffix}>" if set(url) & set(" ()<>") else url + suffix
