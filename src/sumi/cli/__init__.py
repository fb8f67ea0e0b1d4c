"""The command line: ``main`` finds and runs the command. Commands that belong to no single job are here.

The others are in ``jobs/*/command*.py``. A command is imported only when it is used.
"""
