"""The default backend: the in-memory frontier and a journal of text lines that rebuilds it."""

from sumi.state.journal.store import FilesStore

__all__ = ["FilesStore"]
