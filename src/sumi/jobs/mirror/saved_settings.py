"""What a mirror's ledger remembers of its settings: enough to say later what the job would take.

Only what decides about URLs is kept. Where the job connects from and with what credentials is nobody's
business but the run's.
"""

import msgspec

from sumi.ports import Ledger
from sumi.settings import MirrorSettings

NOTE = "mirror.settings"

KEPT = (
    "url",
    "follow_links",
    "include",
    "exclude",
    "hosts",
    "loose_paths",
    "max_depth",
    "max_pages",
    "respect_robots",
    "robots_on_error",
    "user_agent",
    "contact",
    "rewrite_links",
    "assets",
    "max_asset_size",
    "max_assets_total",
    "min_fidelity",  # what counts as complete is decided by it
)


async def remember_settings(ledger: Ledger, settings: MirrorSettings) -> None:
    """Noted at every start and every reload; a note that would say the same again is not written."""
    before = await recall_settings(ledger)
    kept = {name: getattr(settings, name) for name in KEPT}
    if before is not None and before.url == settings.url:
        # The largest limit that ever held: pages taken under it stay when a later run asks for fewer.
        kept["max_pages"] = _larger_cap(before.max_pages, settings.max_pages)
    note = msgspec.json.encode(kept).decode()
    if note != await ledger.get_note(NOTE):
        await ledger.put_note(NOTE, note)


async def recall_settings(ledger: Ledger) -> MirrorSettings | None:
    """None for state that was written before there was such a note, or is not a mirror's."""
    note = await ledger.get_note(NOTE)
    if note is None:
        return None
    try:
        return msgspec.json.decode(note, type=MirrorSettings)
    except msgspec.MsgspecError:
        return None


def _larger_cap(one: int, other: int) -> int:
    return max(one, other) if one and other else 0  # 0 is no limit
