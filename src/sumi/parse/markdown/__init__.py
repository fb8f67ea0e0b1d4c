"""A page as Markdown, and how much of it arrived."""
