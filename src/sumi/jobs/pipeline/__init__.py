"""Crawl, scrape, run: a policy decides what is visited, and raw pages land in an archive."""
