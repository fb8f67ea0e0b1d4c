"""Documentation captured job by job, each text once."""
