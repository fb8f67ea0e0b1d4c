"""Documents that are no web pages: PDF, and the zipped XML of word processors and books.

Each becomes HTML, so that whatever is true of a page's Markdown is true of a document's: how it is escaped,
its links, its tables, how it is judged. What a document says of itself comes with it (``Document``)."""
