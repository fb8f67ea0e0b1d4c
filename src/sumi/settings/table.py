"""The settings of a mirror job as one table; its rows are in ``rows/``, a module for each group.

Flags, environment variables, configuration keys and the reference page are all made from ``SETTINGS``.
Nothing here knows where a value came from.
"""

from sumi.settings.kinds import URL, many
from sumi.settings.rows import limits, network, output, pace, rendering, take
from sumi.settings.setting import TAKE, Setting

SETTINGS: tuple[Setting, ...] = (
    *take.ROWS,
    *pace.ROWS,
    *network.ROWS,
    *rendering.ROWS,
    *limits.ROWS,
    *output.ROWS,
)

# The mirror command takes several sites; each becomes the ``url`` of its own settings.
URLS = Setting("urls", many(URL), TAKE, "Sites, or parts of them under a path, mirrored in turn.")
