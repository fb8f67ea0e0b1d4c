"""The state of a map: one SQLite file with the crawl's own tables and those that people query."""
