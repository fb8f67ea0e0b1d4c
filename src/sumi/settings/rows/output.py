"""Output and state: where things go, and how safely."""

from sumi.policy import Durability, StateBackend
from sumi.settings.kinds import FOLDER, GIB, SWITCH, choice, size, whole
from sumi.settings.setting import OUTPUT, Setting

ROWS: tuple[Setting, ...] = (
    Setting(
        "output",
        FOLDER,
        OUTPUT,
        "Where the Markdown and the state of the run go.",
        short="o",
    ),
    Setting("fresh", SWITCH, OUTPUT, "Start over instead of going on where the last run stopped."),
    Setting(
        "update",
        SWITCH,
        OUTPUT,
        "Bring a finished mirror up to date: only what changed is fetched and rewritten; pages that are gone "
        "move to _gone/.",
    ),
    Setting(
        "trust-lastmod",
        SWITCH,
        OUTPUT,
        "In an update, leave out pages whose date in the sitemap is the one that it was before.",
    ),
    Setting(
        "rewrite-links",
        SWITCH,
        OUTPUT,
        "At the end, point links between mirrored pages at their files, so that the tree works offline.",
    ),
    Setting(
        "raw",
        SWITCH,
        OUTPUT,
        "Keep the pages as they came, compressed, so that sumi rebuild can make the Markdown again.",
    ),
    Setting(
        "state",
        choice(StateBackend),
        OUTPUT,
        "What the state is kept in: files are readable text and fastest for one site; sqlite and lmdb keep "
        "memory small over millions of URLs.",
        otherwise="what it is kept in already; a new mirror begins with files and goes on with sqlite once "
        "it knows 100,000 URLs",
    ),
    Setting(
        "durability",
        choice(Durability),
        OUTPUT,
        "batch survives the death of the process; strict survives a power cut too, and is slower.",
    ),
    Setting(
        "min-free",
        size(0, 1024 * GIB),
        OUTPUT,
        "Do not start, and stop in good order, with less room on the disk, or with a twentieth of its inodes "
        "left; 0 for no such check.",
        "bytes",
        otherwise="1GiB or a twentieth of the disk, whichever is more, but at most 10GiB",
    ),
    Setting(
        "processes",
        whole(0, 64, "processes"),
        OUTPUT,
        "Worker processes that turn pages into Markdown; 0 does it within the crawling process.",
        "processes",
        otherwise="by the number of cores",
    ),
)
