"""After a crawl: which of the URLs that want one file name has it does not depend on which came first.

While pages arrive, the first one takes the name. A run that was interrupted and gone on with, an update and a
new mirror would then differ in nothing but such names; here they are made the same.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from sumi.jobs.mirror.output import MarkdownTree
from sumi.jobs.mirror.survey import pages_here
from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.ports import Frontier, Ledger
from sumi.urls.paths import caseless, page_path, rightful_paths, spare_path

BATCH = 500
# Names that are about to be given up, until their files are gone.
NOTE = "mirror.old_names"


class Move(NamedTuple):
    url: str
    before: str
    after: str


async def misnamed(ledger: Ledger) -> list[Move]:
    """What has to move, in an order in which every place is free when its turn comes.

    Pages that an unfinished update has yet to ask for stay where they are until that is done.
    """
    here: dict[str, str] = {}
    waiting: set[str] = set()
    async for record in pages_here(ledger):
        if record.facts.path is not None:
            here[record.url] = record.facts.path
            if record.outcome is Outcome.PENDING:
                waiting.add(record.url)
    moves = [
        Move(url, here[url], path)
        for url, path in rightful_paths(here).items()
        if path != here[url] and url not in waiting
    ]
    moves.sort(key=_takes_its_own_name)
    return _possible(moves, {caseless(path) for path in here.values()})


async def rename_pages(moves: Sequence[Move], ledger: Ledger, frontier: Frontier, tree: MarkdownTree) -> None:
    """A file has both names until its record says the new one, durably; the next run ends what was begun."""
    last = [move for move in moves if _takes_its_own_name(move)]
    for group in (moves[: len(moves) - len(last)], last):
        for start in range(0, len(group), BATCH):
            batch = group[start : start + BATCH]
            await ledger.put_note(NOTE, msgspec.json.encode([move.before for move in batch]).decode())
            amended = await _copied(batch, ledger, tree)
            await tree.sync()  # or a power cut could leave a record whose file did not arrive
            await frontier.amend(amended)
            await frontier.sync(tree.sync)
            # Before the next group: on a disk that ignores case its new names are among these old ones.
            await remove_old_names(ledger, tree)


async def remove_old_names(ledger: Ledger, tree: MarkdownTree) -> None:
    """Files that pages had before they were renamed, also by a run that was killed at that."""
    note = await ledger.get_note(NOTE)
    if not note:
        return
    old = {caseless(path): path for path in msgspec.json.decode(note, type=list[str])}
    async for record in pages_here(ledger):
        if record.facts.path is not None:
            old.pop(caseless(record.facts.path), None)
    for path in old.values():
        tree.remove_file(path)
    await ledger.put_note(NOTE, "")


async def remove_strays(ledger: Ledger, tree: MarkdownTree) -> None:
    """Files of pages that were written but not settled when a run was killed, under a name that another page
    took in the next run."""
    rivals: defaultdict[str, dict[str, str]] = defaultdict(dict)  # by the name that all of them want
    async for record in pages_here(ledger):
        if record.facts.path is not None:
            rivals[caseless(page_path(record.url))][record.url] = record.facts.path
    for paths in rivals.values():
        if len(paths) > 1:
            wanted = {name for url in paths for name in (page_path(url), spare_path(url))}
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


def _takes_its_own_name(move: Move) -> bool:
    """After those that make room for it."""
    return move.after == page_path(move.url)


def _possible(moves: Sequence[Move], held: set[str]) -> list[Move]:
    """Without those whose place somebody keeps, who cannot move yet or is called just so."""
    possible = []
    for move in moves:
        if caseless(move.after) not in held:
            held.discard(caseless(move.before))
            held.add(caseless(move.after))
            possible.append(move)
    return possible
