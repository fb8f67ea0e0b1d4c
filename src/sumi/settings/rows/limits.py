"""Limits of one exchange and of one page."""

from sumi.settings.kinds import GIB, KIB, MIB, decimal, size, whole
from sumi.settings.setting import LIMITS, Setting

ROWS: tuple[Setting, ...] = (
    Setting("timeout", decimal(1, 86_400, "seconds"), LIMITS, "For one whole exchange.", "seconds"),
    Setting(
        "connect-timeout",
        decimal(0.1, 3600, "seconds"),
        LIMITS,
        "For looking up a name, and again for connecting and the TLS handshake.",
        "seconds",
    ),
    Setting(
        "first-byte-timeout",
        decimal(0.1, 3600, "seconds"),
        LIMITS,
        "Until an answer begins.",
        "seconds",
    ),
    Setting(
        "idle-timeout", decimal(0.1, 3600, "seconds"), LIMITS, "Silence in the midst of an answer.", "seconds"
    ),
    Setting(
        "min-speed",
        whole(0, 1_000_000_000, "bytes per second"),
        LIMITS,
        "A slower answer, on average over the idle timeout, is given up; 0 for no limit.",
        "bytes per second",
    ),
    Setting(
        "max-wire",
        size(KIB, GIB),
        LIMITS,
        "A larger body, as transferred, is given up; sitemaps may have 50 MiB.",
        "bytes",
    ),
    Setting(
        "parse-cpu",
        decimal(0.1, 3600, "seconds"),
        LIMITS,
        "Processor time for turning one page into Markdown, in worker processes.",
        "seconds",
    ),
    Setting(
        "parse-memory",
        size(131_072 * KIB, 64 * GIB),
        LIMITS,
        "Memory of a worker process that turns pages into Markdown.",
        "bytes",
    ),
    Setting(
        "html-depth",
        whole(16, 10_000, "elements"),
        LIMITS,
        "A page whose elements are nested deeper is kept as plain text.",
        "elements",
    ),
    Setting(
        "html-nodes",
        whole(1000, 1_000_000_000, "nodes"),
        LIMITS,
        "A page of more nodes is kept as plain text.",
        "nodes",
    ),
    Setting(
        "max-body",
        size(KIB, GIB),
        LIMITS,
        "A larger page, after decompression, is given up; sitemaps may have 50 MiB.",
        "bytes",
    ),
    Setting(
        "max-in-flight",
        size(MIB, 64 * GIB),
        LIMITS,
        "All bodies that are coming or being read, together; while they are more, large transfers wait.",
        "bytes",
    ),
    Setting(
        "max-ratio",
        whole(1, 1_000_000, "times"),
        LIMITS,
        "A body that grows by more when decompressed, and over 1 MiB, is given up.",
        "times",
    ),
    Setting(
        "max-codings",
        whole(0, 20, "codings"),
        LIMITS,
        "Compressions of one body on top of each other.",
        "codings",
    ),
    Setting(
        "max-header-bytes",
        size(KIB, 256 * KIB),
        LIMITS,
        "An answer with larger headers, all together, is given up.",
        "bytes",
    ),
    Setting(
        "max-header-fields",
        whole(1, 4096, "headers"),
        LIMITS,
        "An answer with more headers is given up.",
        "headers",
    ),
    Setting(
        "max-redirects", whole(0, 100, "redirects"), LIMITS, "In a row, meta refresh included.", "redirects"
    ),
    Setting(
        "max-url-length", whole(64, 8192, "characters"), LIMITS, "A longer URL is passed over.", "characters"
    ),
    Setting("max-links", whole(1, 1_000_000, "links"), LIMITS, "Of one page; the rest is left out.", "links"),
    Setting(
        "max-retry-after",
        decimal(0, 604_800, "seconds"),
        LIMITS,
        "A server that asks to be left alone for longer is asked again after this.",
        "seconds",
    ),
    Setting(
        "max-crawl-delay",
        decimal(0, 86_400, "seconds"),
        LIMITS,
        "A longer Crawl-delay of a robots.txt counts as this.",
        "seconds",
    ),
)
