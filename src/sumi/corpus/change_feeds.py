"""The changes of sites as a feed: Atom for readers, JSON lines for programs."""

import html
import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from sumi.corpus.histories import Site, reading
from sumi.corpus.page_diffs import page_diff, unified
from sumi.files.plain_text import iso_utc
from sumi.history.rows import ChangeKind, Version
from sumi.history.store import History

MOST_DIFF_BYTES = 20 * 1024  # of an entry
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_TITLES = {
    ChangeKind.ADDED: "New",
    ChangeKind.CHANGED: "Changed",
    ChangeKind.GONE: "Gone",
    ChangeKind.BACK: "Back",
    ChangeKind.MOVED: "Moved",
}


class Change(NamedTuple):
    site: Site
    version: Version
    diff: str  # unified, cut at a line; "" if none was asked for, or there is nothing to compare


def changes(
    sites: list[Site],
    *,
    since: float = 0.0,
    minor: bool = False,
    limit: int = 100,
    diffs: bool = False,
    kinds: frozenset[ChangeKind] = frozenset(ChangeKind),
) -> list[Change]:
    """Of all sites together, the newest first; with a limit below 0, all of them. What Sumi itself wrote
    differently is no change."""
    most = None if limit < 0 else limit
    found: list[Change] = []
    for site in sites:
        with reading(site) as store:
            wanted = [v for v in store.changes(since=since) if v.kind in kinds and _is_news(v, minor=minor)]
            found += [Change(site, v, version_diff(store, v) if diffs else "") for v in wanted[:most]]
    return sorted(found, key=lambda change: (-change.version.at, change.version.url))[:most]


def _is_news(version: Version, *, minor: bool) -> bool:
    return version.kind != ChangeKind.REMADE and (minor or not version.minor)


def version_diff(store: History, version: Version) -> str:
    """How a version differs from the text before it; empty if there is nothing to compare."""
    if version.kind not in (ChangeKind.CHANGED, ChangeKind.BACK):
        return ""
    old = next((v for v in reversed(store.versions(version.url)) if v.number < version.number), None)
    while old is not None and old.sha256 is None:  # a page that is back is compared with its last text
        old = next((v for v in reversed(store.versions(version.url)) if v.number < old.number), None)
    diff = page_diff(store, old, version)
    if diff.lost:
        return f"(the text of {diff.lost} cannot be read)"
    if diff.forgotten:
        return "(what was before is forgotten)"
    lines, size = [], 0
    for line in unified(diff):
        size += len(line.encode("utf-8", "replace")) + 1
        if size > MOST_DIFF_BYTES:
            lines.append("… (the rest is left out: sumi diff shows it)")
            break
        lines.append(line)
    return "\n".join(lines)


def json_lines(found: list[Change]) -> Iterator[str]:
    """The oldest first, as they happened."""
    for change in reversed(found):
        yield json.dumps(change_fields(change))


def change_fields(change: Change) -> dict[str, object]:
    version = change.version
    fields: dict[str, object] = {
        "url": version.url,
        "kind": version.kind,
        "at": iso_utc(version.at),
        "run": version.run,
        "sha256": None if version.sha256 is None else version.sha256.hex(),
        "previous": None if version.previous is None else version.previous.hex(),
        "title": version.title,
        "added": version.added,
        "removed": version.removed,
        "minor": version.minor,
        "version": version.number,
        "site": change.site.name,
    }
    if version.other is not None:
        fields["to" if version.kind == ChangeKind.MOVED else "from"] = version.other
    if change.diff:
        fields["diff"] = change.diff
    return fields


def atom(found: list[Change], sites: list[Site], now: float) -> Iterator[str]:
    """A feed of these changes. The ids are the same whenever and wherever the feed is written."""
    names = ", ".join(site.name for site in sites)
    updated = max((change.version.at for change in found), default=now)
    yield '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
    yield f"<title>Changes of {_xml(names)}</title>\n<id>{_urn('feed', names)}</id>\n"
    yield f"<updated>{iso_utc(updated)}</updated>\n<author><name>Sumi</name></author>\n"
    for change in found:
        yield _entry(change)
    yield "</feed>\n"


def _entry(change: Change) -> str:
    version = change.version
    title = f"{_TITLES[ChangeKind(version.kind)]}: {version.title or version.url}"
    content = f"<p>{html.escape(summary_of(version))}</p>"
    if change.diff:
        content += f"<pre>{html.escape(change.diff)}</pre>"
    name = f"{version.url}\0{version.number}\0{(version.sha256 or b'').hex()}"
    return (
        f"<entry><title>{_xml(title)}</title><id>{_urn('version', name)}</id>"
        f'<link href="{_xml(version.url)}"/><updated>{iso_utc(version.at)}</updated>'
        f'<category term="{_xml(version.kind)}"/><content type="html">{_xml(content)}</content></entry>\n'
    )


def summary_of(version: Version) -> str:
    """``changed, +12 -3 lines``."""
    words = [version.kind]
    if version.added is not None:
        words.append(f"+{version.added:,} -{version.removed or 0:,} lines")
    if version.minor:
        words.append("minor")
    if version.other is not None:
        words.append(f"{'to' if version.kind == ChangeKind.MOVED else 'from'} {version.other}")
    return ", ".join(words)


def _urn(kind: str, name: str) -> str:
    return f"urn:sumi:{kind}:{sha256(name.encode('utf-8', 'replace')).hexdigest()[:32]}"


def _xml(text: str) -> str:
    return html.escape(_NOT_XML.sub("\ufffd", text))
