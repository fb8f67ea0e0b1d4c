"""What the summary says besides the counts: traps by name, hosts that put up bot checks, near-duplicates.

All of it is told from the ledger, so that it covers the whole job and not only its last run.
"""

from array import array
from collections import Counter
from collections.abc import Iterator

from sumi.engine.fidelity_report import FidelityScores
from sumi.frontier.novelty import SAME_BITS
from sumi.outcomes import Outcome
from sumi.ports import Ledger
from sumi.urls import host_key

# A summary is read by people.
_MOST_NAMED = 10
# Hashes that differ in six bits agree in one of eight bytes, and then stand close together when sorted by it.
# So many neighbours are looked at: more would find a few more pairs among pages that all look alike.
_PIECE = 8
_NEIGHBOURS = 4


async def findings(ledger: Ledger, fidelity: FidelityScores) -> tuple[tuple[str, ...], int]:
    """And how many links were dropped. The scores take the pages that are looked through here: a second look
    would take as long again."""
    pages, dropped = await _pages(ledger, fidelity)
    return (*await _traps(ledger), *await _challenges(ledger), *pages), dropped


async def _traps(ledger: Ledger) -> list[str]:
    rules = Counter([record.rule async for record in ledger.records((Outcome.TRAP,))])
    notes = [f"trap: {rule} ({_urls(count)} passed over)" for rule, count in rules.most_common(_MOST_NAMED)]
    unnamed = len(rules) - len(notes)
    return [*notes, f"trap: {unnamed} more kinds, see the manifest"] if unnamed else notes


async def _challenges(ledger: Ledger) -> list[str]:
    hosts = Counter(
        [(host_key(record.url), record.rule) async for record in ledger.records((Outcome.CHALLENGE,))]
    )
    return [
        f"{host} put up a bot check ({rule.rpartition(': ')[2]}) for {_urls(count)}: crawl more slowly, "
        "or ask the site's owner to let you in"
        for (host, rule), count in hosts.most_common(_MOST_NAMED)
    ]


async def _pages(ledger: Ledger, fidelity: FidelityScores) -> tuple[list[str], int]:
    hashes = array("Q")
    unindexed = dropped = 0
    rendered, in_vain = Counter[str](), Counter[str]()
    async for record in ledger.records((Outcome.CAPTURED, Outcome.UNCHANGED)):
        fidelity.take(record)
        dropped += record.facts.links_dropped
        if record.facts.simhash is not None:
            hashes.append(int(record.facts.simhash, 16))
        unindexed += "noindex" in (record.facts.robots_meta or "").lower()
        rendered.update(filter(None, (record.facts.rendered,)))
        in_vain.update(filter(None, (record.facts.render_note,)))
    groups = near_duplicates(hashes)
    notes = []
    if groups:
        pages = sum(map(len, groups))
        notes.append(f"near-duplicates: {pages:,} pages in {_counted(len(groups), 'group')}; all were kept")
    if unindexed:
        notes.append(f"noindex: {_counted(unindexed, 'page')} asked not to be indexed; kept, and flagged")
    return [*notes, *_rendered(rendered, in_vain)], dropped


def _rendered(reasons: Counter[str], in_vain: Counter[str]) -> list[str]:
    told = [
        f"rendered in a browser: {_counted(count, 'page')} ({why})"
        for why, count in reasons.most_common(_MOST_NAMED)
    ]
    vain = [f"{note} on {_counted(count, 'page')}" for note, count in in_vain.most_common(_MOST_NAMED)]
    return told + vain


def near_duplicates(hashes: "array[int]") -> list[list[int]]:
    """Groups of nearly the same, as places in ``hashes``; both in the order of these."""
    leader = list(range(len(hashes)))
    for one, other in _near_pairs(hashes):
        if leader[one] != leader[other]:
            leader[_find(leader, one)] = _find(leader, other)
    groups: dict[int, list[int]] = {}
    for at in range(len(hashes)):
        groups.setdefault(_find(leader, at), []).append(at)
    return [members for members in groups.values() if len(members) > 1]


def _near_pairs(hashes: "array[int]") -> Iterator[tuple[int, int]]:
    # A hash and its place in one number: these sort, and tell how far apart they are, without a call each.
    bits = len(hashes).bit_length()
    place = (1 << bits) - 1
    for turn in range(0, 64, _PIECE):
        order = sorted(_rotated(value, turn) << bits | at for at, value in enumerate(hashes))
        for apart in range(1, _NEIGHBOURS + 1):
            for one, other in zip(order, order[apart:], strict=False):
                if ((one ^ other) >> bits).bit_count() <= SAME_BITS:
                    yield one & place, other & place


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & (2**64 - 1)


def _find(leader: list[int], one: int) -> int:
    while leader[one] != one:
        leader[one] = one = leader[leader[one]]
    return one


def _urls(count: int) -> str:
    return _counted(count, "URL")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
