"""The loop that leases, visits and settles; and what it needs at each step. Start reading at ``run``."""
