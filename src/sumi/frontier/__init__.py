"""Which URL may be fetched when: pure scheduling, with the time as an argument."""
