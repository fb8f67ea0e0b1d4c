"""The processes that digest pages, and the crawler's side of them."""
