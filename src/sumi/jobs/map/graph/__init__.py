"""A terrain map looked at: its graphs, what they say, files for other programs, a picture. Nothing is written
to the database."""
