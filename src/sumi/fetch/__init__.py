"""The network: one guarded, bounded HTTP exchange at a time."""
