"""A finished mirror's files as they were at an earlier moment, and what a power cut does to its packs."""

import random
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

from sumi.model import PageFacts
from sumi.parse.page.raw import unpacked

Harm = Callable[[bytes, random.Random], bytes | None]


def put_back(output: Path, now: dict[str, str], then: dict[str, str]) -> None:
    """Files of pages that were renamed since: each where it was ``then``. Both are paths by URL."""
    contents = {url: (output / now[url]).read_bytes() for url, path in then.items() if now[url] != path}
    for url in contents:
        (output / now[url]).unlink(missing_ok=True)
    for url, content in contents.items():
        (output / then[url]).parent.mkdir(parents=True, exist_ok=True)
        (output / then[url]).write_bytes(content)


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
