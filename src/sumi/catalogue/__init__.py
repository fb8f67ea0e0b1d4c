"""Which jobs are below a folder, and which pages each has captured: read only, without locks and without the
engine. ``find`` lists the jobs, ``pages`` reads what they captured."""
