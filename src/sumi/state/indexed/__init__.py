"""What the backends on an embedded database share: everything but how a row is read and written."""

from sumi.state.indexed.folder_store import FolderStore
from sumi.state.indexed.store import IndexedStore

__all__ = ["FolderStore", "IndexedStore"]
