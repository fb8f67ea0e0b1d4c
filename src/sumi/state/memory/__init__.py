"""The executable specification of Frontier and Ledger: plain dictionaries and heaps, nothing durable.

Every other backend is compared with this one, and inherits what it decides. Single-threaded: methods are
coroutines only because other backends need to be, and none of these ever yields in the middle of a change.

Each module adds one thing to the one before: ``discovery`` what is known, ``leases`` who may be asked now,
``settlements`` how a lease ends, ``waits`` what hosts wait for, ``records`` what became of every URL, and
``store`` the whole, with how it is carried into another.
"""

from sumi.state.memory.records import NO_FACTS
from sumi.state.memory.store import MemoryStore

__all__ = ["NO_FACTS", "MemoryStore"]
