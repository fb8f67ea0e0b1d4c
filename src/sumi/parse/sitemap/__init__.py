"""Reads sitemaps in every format that sites publish."""
