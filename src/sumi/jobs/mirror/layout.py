"""How the files of a mirror are named: chosen when it is new, and kept."""

from sumi.errors import UsageError
from sumi.policy import Layout
from sumi.ports import JobStore, Ledger

_NOTE = "mirror.layout"


async def stored_layout(ledger: Ledger) -> Layout:
    note = await ledger.get_note(_NOTE)
    return Layout.URLS if note is None else Layout(note)


async def settle_layout(store: JobStore, wanted: Layout | None) -> None:
    """A mirror from before there was a choice keeps the names that its pages have."""
    if await store.get_note(_NOTE) is None and not store.resumed:
        await store.put_note(_NOTE, (wanted or Layout.FOLDERS).value)
    has = await stored_layout(store)
    if wanted is not None and wanted is not has:
        raise UsageError(
            f"the files of this mirror are named by --layout {has.value}; for --layout {wanted.value} choose "
            "another --output, or start over with --fresh"
        )
