"""What was captured, for other programs: archives, tables, books and trees. ``export`` is the way in,
``formats`` the table of what can be written; the listing of pages and the writing of results are shared."""
