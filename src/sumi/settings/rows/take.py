"""What to take: which pages of a site, and what counts as one that is fit to keep."""

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
from sumi.settings.setting import TAKE, Setting

ROWS: tuple[Setting, ...] = (
    Setting(
        "url",
        URL,
        TAKE,
        "The site, or the part of it under a path.",
    ),
    Setting("follow-links", SWITCH, TAKE, "Take linked pages too where a sitemap lists the site's pages."),
    Setting(
        "include",
        many(PATTERN),
        TAKE,
        "Only pages whose path matches, and the URL that is given. Repeatable.",
    ),
    Setting("exclude", many(PATTERN), TAKE, "No pages whose path matches; wins over --include. Repeatable."),
    Setting(
        "hosts",
        many(HOST_PATTERN),
        TAKE,
        "Further hosts that belong to the site; *.example.org takes example.org too. Repeatable.",
    ),
    Setting(
        "loose-paths",
        SWITCH,
        TAKE,
        "For a URL with the path /docs, take /docs-old as well; otherwise only what lies under /docs/.",
    ),
    Setting(
        "max-pages",
        whole(0, 1_000_000_000, "pages"),
        TAKE,
        "Stop after so many captured pages; 0 for no limit.",
        "pages",
    ),
    Setting(
        "max-depth",
        whole(0, 10_000, "links"),
        TAKE,
        "How many links away from the start a page may be.",
        "links",
        otherwise="no limit",
    ),
    Setting(
        "source",
        choice(SourceChoice),
        TAKE,
        "What pages are made from: their HTML, or the site's own Markdown where it is at least as good; auto "
        "looks for it where pages say that there is some and a sitemap lists them, markdown everywhere.",
    ),
    Setting(
        "assets",
        SWITCH,
        TAKE,
        "Also keep the images that pages show, from any host, and the files that they link to within the "
        "scope, and link to them locally.",
    ),
    Setting(
        "max-asset-size",
        size(KIB, 4 * GIB),
        TAKE,
        "With --assets: a larger image or file is passed over.",
        "bytes",
    ),
    Setting(
        "max-assets-total",
        size(0, 1024 * GIB),
        TAKE,
        "With --assets: what all of them together may take; what would go beyond is passed over.",
        "bytes",
    ),
    Setting(
        "drop-duplicates",
        SWITCH,
        TAKE,
        "Of pages with the same title and text write only the first; the others are recorded as duplicates.",
    ),
    Setting(
        "min-fidelity",
        FIDELITY,
        TAKE,
        "The least share of a page that its Markdown must hold. Pages below are kept and listed, and the run "
        "ends with exit code 1; 0 for no bar.",
    ),
    Setting(
        "trap-pages",
        whole(0, 1_000_000, "pages"),
        TAKE,
        "URLs that differ in dates, ids or parameters are cut after so many pages without a new word; "
        "0 for never.",
        "pages",
    ),
    Setting(
        "trap-segments",
        whole(0, 10_000, "segments"),
        TAKE,
        "A path with more segments is a trap; 0 for no limit.",
        "segments",
    ),
    Setting(
        "trap-repeats",
        whole(0, 10_000, "times"),
        TAKE,
        "A path that repeats a segment more often, or a query that repeats itself, is a trap; 0 for neither.",
        "times",
    ),
    Setting(
        "trap-parameters",
        whole(0, 10_000, "parameters"),
        TAKE,
        "A query of more parameters is a trap; 0 for no limit.",
        "parameters",
    ),
    Setting(
        "trap-hops",
        whole(0, 1_000_000, "links"),
        TAKE,
        "A page that is more links away from the start is a trap; 0 for no limit.",
        "links",
    ),
)
