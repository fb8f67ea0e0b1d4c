"""Mirror: a site as a tree of Markdown files."""
