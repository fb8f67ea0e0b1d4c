"""What was captured, read back: search, and the history of pages. Never imports the engine."""
