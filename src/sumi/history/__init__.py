"""The versions of pages over all runs of a job: what was added, changed, moved and removed, and each text."""
