"""Sumi: a polite, resumable, fast web crawler."""

__version__ = "0.1.0"
