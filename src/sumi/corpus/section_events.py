"""Sections of sites as events, so that a store of vectors follows a site without reading everything again.

Applied in order to an empty store, the events of a first feed give every section; those of each later feed
bring it up to date. Applying one twice changes nothing.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sumi.corpus.histories import Site, reading
from sumi.corpus.sections import Section, section_ids, sections
from sumi.errors import UsageError
from sumi.files.disk_errors import explained
from sumi.files.plain_text import iso_utc
from sumi.history.rows import Version
from sumi.history.store import History

ADD, CHANGE, DELETE, CLEAR = "add", "change", "delete", "clear"


class SectionEvents:
    """``reached`` is where each site ends; hand it to the next feed as ``after``."""

    def __init__(self, sites: list[Site], after: dict[str, int]) -> None:
        self._sites = sites
        self._after = after
        self.reached = dict(after)

    def __iter__(self) -> Iterator[dict[str, object]]:
        for site in self._sites:
            with reading(site) as store:
                key = str(site.home.resolve())
                last, after = store.last_seq(), self._after.get(key, 0)
                # A new history counts from the start again.
                yield from _events(store, after if after <= last else 0)
                self.reached[key] = last


def _events(store: History, after: int) -> Iterator[dict[str, object]]:
    for change in store.changed_after(after):
        last = change.last
        about = {"url": change.url, "at": iso_utc(last.at), "run": last.run, "title": last.title}
        old = None if change.pruned else _sections(store, change.url, change.before)
        new = _sections(store, change.url, last)
        if old is None and after:  # what the receiver has of this page is not known
            yield {"event": CLEAR, **about}
        if new is None:
            yield {"event": CLEAR, **about, "problem": "the text of this version cannot be read"}
        else:
            yield from _differences(about, old or {}, new)


def _differences(
    about: dict[str, object], old: dict[str, Section], new: dict[str, Section]
) -> Iterator[dict[str, object]]:
    for name in old.keys() - new.keys():
        yield {"event": DELETE, "id": name, **about}
    for name, section in new.items():
        if name not in old or old[name].text != section.text:
            yield {
                "event": CHANGE if name in old else ADD,
                "id": name,
                **about,
                "heading": section.heading,
                "trail": list(section.trail),
                "text": section.text,
            }


def _sections(store: History, url: str, version: Version | None) -> dict[str, Section] | None:
    """By id; None if the text cannot be read."""
    if version is None or version.sha256 is None:
        return {}
    text = store.text(version.sha256)
    if text is None:
        return None
    cut = sections(text.decode("utf-8", "replace"))
    return dict(zip(section_ids(url, cut), cut, strict=True))


def read_cursor(path: Path) -> dict[str, int]:
    """Where an earlier feed ended; empty if there is no file yet."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, int])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError) as error:
        raise UsageError(f"{path} is not the cursor of a feed ({error}): name another file") from None


def write_cursor(path: Path, reached: dict[str, int]) -> None:
    """Replaced as a whole, once everything before it is written."""
    beside = path.with_name(f".{path.name}.tmp")
    with explained(path):
        beside.write_text(json.dumps(reached) + "\n")
        os.replace(beside, path)
