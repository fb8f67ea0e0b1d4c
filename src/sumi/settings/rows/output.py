"""Output and state: where things go, and how safely."""

from sumi.policy import Durability, StateBackend
from sumi.settings.kinds import FOLDER, GIB, SWITCH, choice, size, whole
from sumi.settings.setting import OUTPUT, Setting, grouped

ROWS = grouped(
    OUTPUT,
    Setting(
        "output",
        FOLDER,
        "Folder for the Markdown and the state of the run.",
        short="o",
    ),
    Setting("fresh", SWITCH, "Start over instead of resuming the last run."),
    Setting(
        "update",
        SWITCH,
        "Update a finished mirror: fetch and rewrite only what changed; pages that the site removed move to "
        "_gone/.",
    ),
    Setting(
        "trust-lastmod",
        SWITCH,
        "In an update, skip pages whose date in the sitemap has not changed.",
    ),
    Setting(
        "rewrite-links",
        SWITCH,
        "At the end, point links between mirrored pages at their files, so that the tree works offline.",
    ),
    Setting(
        "raw",
        SWITCH,
        "Keep the original pages, compressed, so that sumi rebuild can make the Markdown again.",
    ),
    Setting(
        "state",
        choice(StateBackend),
        "Storage of the state: files is readable text and fastest for one site; sqlite and lmdb need little "
        "memory even with millions of URLs.",
        otherwise="the storage it already has; a new mirror starts with files and moves to sqlite at 100,000 "
        "URLs",
    ),
    Setting(
        "durability",
        choice(Durability),
        "batch survives a crash of the process; strict survives a power cut too, and is slower.",
    ),
    Setting(
        "min-free",
        size(0, 1024 * GIB),
        "Do not start, or stop cleanly, when the disk has less free space or less than a twentieth of its "
        "inodes free; 0 for no check.",
        "bytes",
        otherwise="1GiB or a twentieth of the disk, whichever is more, but at most 10GiB",
    ),
    Setting(
        "processes",
        whole(0, 64, "processes"),
        "Worker processes that convert pages to Markdown; 0 converts them in the crawling process.",
        "processes",
        otherwise="by the number of cores",
    ),
)
