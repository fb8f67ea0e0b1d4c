"""``sumi watch``: jobs that run again when they are due."""
