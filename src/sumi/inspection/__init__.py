"""Stored jobs, inspected from outside: their status, the outcome of a page, the consistency of the state."""
