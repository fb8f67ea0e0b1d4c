"""Sitemaps in every form that sites publish."""
