"""Files that survive a kill intact: a folder that nothing escapes, append-only files, blobs, WARC."""
