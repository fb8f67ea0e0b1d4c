"""The frontier's stores: where a crawl keeps what it knows.

``machine`` decides for all of them, with ``hosts`` and ``entries``. ``memory`` is the specification,
``journal`` logs every change as a line, ``database`` keeps everything in rows of SQLite or LMDB, and
``growing`` starts as a journal and becomes a database. ``folder`` says which of them a state folder holds,
and ``lock`` who uses it.
"""
