"""``page_changes``."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sumi.agents.arguments import Arguments
from sumi.agents.wording import LONGEST_URL, clean, listed, one_line, quoted
from sumi.corpus.change_feeds import Change, changes, summary_of, version_diff
from sumi.corpus.histories import Site, reading, since_time, site_of, sites_in
from sumi.corpus.indexing import host_of
from sumi.corpus.reading import fitted
from sumi.corpus.tokens import estimate
from sumi.errors import UsageError
from sumi.urls.paths import host_folder

_MARKS: Final = 24
_LAST_LINE: Final = 24  # tokens of a line that says what is left out


def page_changes(places: Sequence[Path], given: Arguments, budget: int) -> str:
    site, url = given.text("site"), given.text("url")
    at, diffs = since_time(given.text("since", "7d") or "7d"), given.flag("diff")
    sites = sites_in(list(places))
    if url:
        owner, what = site_of(url, sites)
        found = [
            each for each in changes([owner], since=at, minor=True, limit=-1) if each.version.url == what
        ]
    else:
        what = site or "all sites"
        found = [each for each in changes(sites, since=at, limit=-1) if _is_of(each, site)]
        if site and not found:
            _refuse_unknown(site, sites)
    day = time.strftime("%Y-%m-%d", time.gmtime(at))
    if not found:
        return f"Nothing changed on {one_line(what, LONGEST_URL)} since {day}."
    head = f"{one_line(what, LONGEST_URL)} since {day}: {_counts(found)}"
    room = budget - _MARKS - estimate(head) - _LAST_LINE
    body = _with_diffs(found, room) if diffs else listed([_item(each) for each in found], room, _more)
    return quoted(f"{head}\n{body}")


def _with_diffs(found: Sequence[Change], room: int) -> str:
    parts: list[str] = []
    for number, change in enumerate(found):
        left = room - estimate("\n".join(parts))
        if left < estimate(_item(change)) + _LAST_LINE:
            return "\n".join([*parts, _more(len(found) - number)])
        parts.append(_item(change))
        with reading(change.site) as store:
            diff = version_diff(store, change.version)
        shown = "\n".join(f"    {line}" for line in clean(diff).splitlines())
        left = room - estimate("\n".join(parts)) - _LAST_LINE
        if shown and left > 0:
            cut = fitted(shown, left)
            parts.append(cut.rstrip("\n") + ("\n    … (cut)" if len(cut) < len(shown) else ""))
    return "\n".join(parts)


def _more(left: int) -> str:
    return f"({left} more: a later since, or one url)"


def _item(change: Change) -> str:
    version = change.version
    when = time.strftime("%Y-%m-%d", time.gmtime(version.at))
    line = f"- {when} {one_line(version.url, LONGEST_URL)}: {one_line(summary_of(version), LONGEST_URL)}"
    return f"{line}, {one_line(version.title, 80)}" if version.title else line


def _counts(found: Sequence[Change]) -> str:
    kinds: dict[str, int] = {}
    for change in found:
        kinds[change.version.kind] = kinds.get(change.version.kind, 0) + 1
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.items())


def _is_of(change: Change, name: str) -> bool:
    host = host_of(change.version.url)
    return not name or name.lower() in (host, host.partition(":")[0], change.site.name.lower())


def _refuse_unknown(name: str, sites: Sequence[Site]) -> None:
    names = [site.name for site in sites]
    if name.lower() not in (each.lower() for each in names) and host_folder(f"http://{name}/") not in names:
        raise UsageError(
            f"no site {one_line(name, 80)!r} has a history; there are: {one_line(', '.join(names), 600)}"
        )
