"""The loop that leases, visits and settles, and what it needs at each step. docs/architecture.md walks it."""
