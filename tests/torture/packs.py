"""What a power cut does to the packs of raw pages, and whether each page finds its own in them afterwards."""

import random
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

from sumi.model import PageFacts
from sumi.parse.raw import unpacked

Harm = Callable[[bytes, random.Random], bytes | None]


def harm_packs(home: Path, safe: Iterable[PageFacts], harm: Harm, chance: random.Random) -> None:
    """What was added to a pack after the last sync suffers the harm."""
    ends: dict[str, int] = {}
    for facts in safe:
        if facts.raw_at is not None:
            name, start, length = facts.raw_at
            ends[name] = max(ends.get(name, 0), start + length)
    for pack in home.glob(".sumi/raw/pack-*.zst"):
        data, end = pack.read_bytes(), ends.get(pack.name, 0)
        pack.write_bytes(data[:end] + (harm(data[end:], chance) or b""))


def without_raw_page(home: Path, recorded: Iterable[PageFacts]) -> list[str | None]:
    """Paths of pages whose body is not where their record says."""
    return [facts.path for facts in recorded if facts.raw is not None and not _is_there(home, facts)]


def _is_there(home: Path, facts: PageFacts) -> bool:
    if facts.raw_at is None:
        return False
    name, start, length = facts.raw_at
    body = unpacked((home / ".sumi/raw" / name).read_bytes()[start : start + length], 10**9)
    return body is not None and sha256(body).hexdigest() == facts.raw
