"""The composition root: the only package that knows which parts make a whole, and names a backend.

``parts`` makes what every job needs, ``job_run`` is one run of any job from start to summary, and one module
per job puts its own output and settings in place.
"""

from sumi.assembly.map import map_terrain, run_map
from sumi.assembly.mirror import mirror, run_mirror

__all__ = ["map_terrain", "mirror", "run_map", "run_mirror"]
