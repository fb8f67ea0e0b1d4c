"""Renames pages after a crawl, so that file names depend on the URLs alone, not on the order of arrival.

During a crawl, the first of several URLs with the same file name gets it, so a resumed run, an update and a
new mirror would differ in such names.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sumi.jobs.mirror.output import MarkdownTree
from sumi.jobs.mirror.survey import stored_pages
from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.policy import Layout
from sumi.ports import Frontier, Ledger
from sumi.urls.paths import caseless, page_path, rightful_paths, spare_path

BATCH = 500
# Old names whose files have yet to be removed.
NOTE = "mirror.old_names"


class Move(NamedTuple):
    url: str
    before: str
    after: str


async def misnamed(ledger: Ledger, layout: Layout) -> list[Move]:
    """The renames, ordered so that each target is free in its turn.

    Pages that an unfinished update has yet to request are renamed later.
    """
    here: dict[str, str] = {}
    waiting: set[str] = set()
    async for record in stored_pages(ledger):
        if record.facts.path is not None:
            here[record.url] = record.facts.path
            if record.outcome is Outcome.PENDING:
                waiting.add(record.url)
    moves = [
        Move(url, here[url], path)
        for url, path in rightful_paths(here, layout).items()
        if path != here[url] and url not in waiting
    ]
    moves.sort(key=lambda move: _takes_its_own_name(move, layout))
    return _possible(moves, {caseless(path) for path in here.values()})


async def rename_pages(moves: Sequence[Move], ledger: Ledger, frontier: Frontier, tree: MarkdownTree) -> None:
    """A file has both names until the record of the new one is durable. After a kill, the next run completes
    the rest."""
    last = [move for move in moves if _takes_its_own_name(move, tree.layout)]
    for group in (moves[: len(moves) - len(last)], last):
        for start in range(0, len(group), BATCH):
            batch = group[start : start + BATCH]
            await ledger.put_note(NOTE, msgspec.json.encode([move.before for move in batch]).decode())
            amended = await _copied(batch, ledger, tree)
            await tree.sync()  # or a power cut could leave a record without its file
            await frontier.amend(amended)
            await frontier.sync(tree.sync)
            # Before the next group: on a disk that ignores case, its new names are among these old ones.
            await remove_old_names(ledger, tree)


async def remove_old_names(ledger: Ledger, tree: MarkdownTree) -> None:
    """Remove the files that renamed pages had before, also after a kill during renaming."""
    note = await ledger.get_note(NOTE)
    if not note:
        return
    old = {caseless(path): path for path in msgspec.json.decode(note, type=list[str])}
    async for record in stored_pages(ledger):
        if record.facts.path is not None:
            old.pop(caseless(record.facts.path), None)
    for path in old.values():
        tree.remove_file(path)
    await ledger.put_note(NOTE, "")


async def remove_strays(ledger: Ledger, tree: MarkdownTree) -> None:
    """Remove files that a killed run wrote and did not settle, if another page got their name since."""
    contenders: defaultdict[str, dict[str, str]] = defaultdict(dict)  # by the name that they share
    async for record in stored_pages(ledger):
        if record.facts.path is not None:
            contenders[caseless(page_path(record.url, tree.layout))][record.url] = record.facts.path
    for paths in contenders.values():
        if len(paths) > 1:
            layout = tree.layout
            wanted = {name for url in paths for name in (page_path(url, layout), spare_path(url, layout))}
            for stray in wanted - set(paths.values()):
                tree.remove_stray(stray, paths.values())


async def _copied(batch: Sequence[Move], ledger: Ledger, tree: MarkdownTree) -> dict[str, PageFacts]:
    amended: dict[str, PageFacts] = {}
    for move in batch:
        record = await ledger.record(move.url)
        if record is None:
            continue
        data = tree.read_page(record.facts)
        amended[move.url] = msgspec.structs.replace(record.facts, path=move.after)
        if data is not None:
            tree.replace_page(amended[move.url], data)
    return amended


def _takes_its_own_name(move: Move, layout: Layout) -> bool:
    """Such moves come last: others make room for them."""
    return move.after == page_path(move.url, layout)


def _possible(moves: Sequence[Move], held: set[str]) -> list[Move]:
    """Without moves whose target is taken by a page that stays."""
    possible = []
    for move in moves:
        if caseless(move.after) not in held:
            held.discard(caseless(move.before))
            held.add(caseless(move.after))
            possible.append(move)
    return possible
