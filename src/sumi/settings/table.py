"""The settings of a mirror job as one table; its rows are in ``rows/``, a module for each group.

Flags, environment variables, configuration keys and the reference page are all made from ``SETTINGS``.
Nothing here knows where a value came from.
"""

from sumi.settings.kinds import URL, many
from sumi.settings.mirror import MirrorSettings
from sumi.settings.rows import limits, network, output, pace, rendering, take
from sumi.settings.setting import TAKE, Setting, with_defaults

SETTINGS = with_defaults(
    (
        *take.ROWS,
        *pace.ROWS,
        *network.ROWS,
        *rendering.ROWS,
        *limits.ROWS,
        *output.ROWS,
    ),
    MirrorSettings,
)

# The mirror command takes several sites; each becomes the ``url`` of its own settings.
URLS = Setting("urls", many(URL), "Sites, or parts of them under a path, mirrored in turn.", group=TAKE)
