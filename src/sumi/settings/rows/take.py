"""What to take: which pages of a site, and which are good enough to keep."""

from sumi.policy import SourceChoice
from sumi.settings.kinds import (
    FIDELITY,
    GIB,
    HOST_PATTERN,
    KIB,
    PATTERN,
    SWITCH,
    URL,
    choice,
    many,
    size,
    whole,
)
from sumi.settings.setting import TAKE, Setting, grouped

ROWS = grouped(
    TAKE,
    Setting(
        "url",
        URL,
        "The site, or the part of it under a path.",
    ),
    Setting("follow-links", SWITCH, "Also take linked pages when a sitemap lists the site's pages."),
    Setting(
        "include",
        many(PATTERN),
        "Take only pages whose path matches, and the given URL. Repeatable.",
    ),
    Setting("exclude", many(PATTERN), "Skip pages whose path matches; wins over --include. Repeatable."),
    Setting(
        "hosts",
        many(HOST_PATTERN),
        "Further hosts that belong to the site; *.example.org takes example.org too. Repeatable.",
    ),
    Setting(
        "loose-paths",
        SWITCH,
        "For a URL with the path /docs, take /docs-old as well; otherwise only what lies under /docs/.",
    ),
    Setting(
        "max-pages",
        whole(0, 1_000_000_000, "pages"),
        "Stop after this many captured pages; 0 for no limit.",
        "pages",
    ),
    Setting(
        "max-depth",
        whole(0, 10_000, "links"),
        "The most links between the start and a page.",
        "links",
        otherwise="no limit",
    ),
    Setting(
        "source",
        choice(SourceChoice),
        "Make pages from their HTML, or from the site's own Markdown if it is at least as good: auto looks "
        "for it if pages announce it and a sitemap lists them, markdown looks everywhere.",
    ),
    Setting(
        "assets",
        SWITCH,
        "Also store the images of pages, from any host, and linked files within the scope, and link to them "
        "locally.",
    ),
    Setting(
        "max-asset-size",
        size(KIB, 4 * GIB),
        "With --assets: skip larger images and files.",
        "bytes",
    ),
    Setting(
        "max-assets-total",
        size(0, 1024 * GIB),
        "With --assets: total size of images and files; skip what exceeds it.",
        "bytes",
    ),
    Setting(
        "drop-duplicates",
        SWITCH,
        "Write only the first of pages with the same title and text; record the others as duplicates.",
    ),
    Setting(
        "min-fidelity",
        FIDELITY,
        "The share of a page that its Markdown must contain. Pages below it are kept and listed, and the run "
        "ends with exit code 1; 0 for no check.",
    ),
    Setting(
        "trap-pages",
        whole(0, 1_000_000, "pages"),
        "Stop following URLs that differ only in dates, ids or parameters after this many pages without a "
        "new word; 0 for never.",
        "pages",
    ),
    Setting(
        "trap-segments",
        whole(0, 10_000, "segments"),
        "A path with more segments is a trap; 0 for no limit.",
        "segments",
    ),
    Setting(
        "trap-repeats",
        whole(0, 10_000, "times"),
        "A path that repeats a segment more often, or a repetitive query, is a trap; 0 for no limit.",
        "times",
    ),
    Setting(
        "trap-parameters",
        whole(0, 10_000, "parameters"),
        "A query with more parameters is a trap; 0 for no limit.",
        "parameters",
    ),
    Setting(
        "trap-hops",
        whole(0, 1_000_000, "links"),
        "A page more links away from the start is a trap; 0 for no limit.",
        "links",
    ),
)
