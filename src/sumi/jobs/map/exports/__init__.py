"""A map as a file for other programs, or as a picture."""
