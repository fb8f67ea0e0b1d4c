"""Files that a kill cannot tear: folders kept within bounds, growing files, blobs, WARC."""
