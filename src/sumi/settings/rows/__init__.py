"""The settings of a mirror, a group each."""
