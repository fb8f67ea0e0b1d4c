"""Stored jobs, looked at from outside: how they stand, why a page ended so, whether all is whole."""
