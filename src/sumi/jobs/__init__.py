"""The four jobs, a folder each. They do not import one another."""
