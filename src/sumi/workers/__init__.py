"""The processes that digest pages, and the crawler's side of the conversation with them."""
