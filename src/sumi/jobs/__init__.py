"""The jobs, each a page of data for the one engine."""
