"""One thing that is wrong with a job's state or files, as a check reports it and a repair takes it."""

import msgspec


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One violation in words, and what would put it right."""

    words: str
    damaged: bool = False  # the state itself: save what is good of it
    requeue: str | None = None  # this page's file is to be made again
    stray: str | None = None  # this file belongs to nobody
    stale: bool = False  # a derived file is to be written again
