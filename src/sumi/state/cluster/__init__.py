"""A job on PostgreSQL, worked on by many processes and machines.

``schema`` makes the tables, ``session`` connects, ``membership`` decides who owns which hosts, ``rows``
reads and
``batch`` writes, and ``store`` is the frontier over the hosts that this worker owns. ``jobs`` finds and
makes jobs.
"""
