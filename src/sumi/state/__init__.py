"""Where a crawl keeps what it knows: the frontier's stores. Only ``sumi.assembly`` chooses among them."""
