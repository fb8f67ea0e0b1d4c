"""When may which URL be fetched: pure scheduling, with the time as an argument."""
