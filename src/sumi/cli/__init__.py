"""The command line: ``main`` finds the command, and commands that belong to no one job are here.

The others are in ``jobs/*/command*.py``. A command is imported only when it is asked for.
"""
