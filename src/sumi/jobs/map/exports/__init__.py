"""A map as a file for other programs, a module per format, or as a picture."""
