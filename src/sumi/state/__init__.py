"""Where a crawl keeps what it knows: the frontier's stores.

``machine`` decides for all of them, with ``hosts``, ``leases`` and ``entries``. ``memory`` is the
specification, ``journal`` writes it down line by line, ``database`` keeps it in rows of SQLite or LMDB, and
``growing`` begins as the one and goes on as the other. ``folder`` says which of them a state folder is.
"""
