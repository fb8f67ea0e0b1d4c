"""From bytes to meaning: HTML, Markdown, sitemaps, charsets. Pure; runs in a worker process."""
