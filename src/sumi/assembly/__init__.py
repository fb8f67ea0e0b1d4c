"""The composition root: the only package that knows which parts make a whole, and names a backend.

``parts`` makes what every job needs, ``job_run`` is one run of any job from start to summary, and one module
per job puts its own output and settings in place.
"""
