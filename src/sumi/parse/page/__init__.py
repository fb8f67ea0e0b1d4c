"""What a body says besides its Markdown: links, metadata, navigation, and what kind of page it is."""
