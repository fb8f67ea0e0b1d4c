"""A site becomes a tree of Markdown: everything that only a mirror needs."""
