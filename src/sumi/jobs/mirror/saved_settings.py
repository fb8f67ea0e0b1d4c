"""The settings that a mirror saves in its ledger: enough to say later which URLs the job would take.

Only what decides about URLs is saved, never how the job connects or its credentials.
"""

import msgspec

from sumi.jobs.mirror.settings import MirrorSettings
from sumi.ports import Ledger

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
    "min_fidelity",  # decides what counts as complete
)


async def save_settings(ledger: Ledger, settings: MirrorSettings) -> None:
    """Called at every start and reload; writes only what changed."""
    before = await load_saved_settings(ledger)
    kept = {name: getattr(settings, name) for name in KEPT}
    if before is not None and before.url == settings.url:
        # The largest limit so far: its pages stay when a later run asks for fewer.
        kept["max_pages"] = _larger_cap(before.max_pages, settings.max_pages)
    note = msgspec.json.encode(kept).decode()
    if note != await ledger.get_note(NOTE):
        await ledger.put_note(NOTE, note)


async def load_saved_settings(ledger: Ledger) -> MirrorSettings | None:
    """None for state of older versions and of other jobs."""
    note = await ledger.get_note(NOTE)
    if note is None:
        return None
    try:
        return msgspec.json.decode(note, type=MirrorSettings)
    except msgspec.MsgspecError:
        return None


def _larger_cap(one: int, other: int) -> int:
    return max(one, other) if one and other else 0  # 0 is no limit
