"""Limits of one request and of one page."""

from sumi.settings.kinds import GIB, KIB, MIB, decimal, size, whole
from sumi.settings.setting import LIMITS, Setting

ROWS: tuple[Setting, ...] = (
    Setting(
        "timeout",
        decimal(1, 86_400, "seconds"),
        LIMITS,
        "Time for one request.",
        "seconds",
    ),
    Setting(
        "connect-timeout",
        decimal(0.1, 3600, "seconds"),
        LIMITS,
        "Time for the DNS lookup, and again for connecting with the TLS handshake.",
        "seconds",
    ),
    Setting(
        "first-byte-timeout",
        decimal(0.1, 3600, "seconds"),
        LIMITS,
        "Time until a response begins.",
        "seconds",
    ),
    Setting(
        "idle-timeout", decimal(0.1, 3600, "seconds"), LIMITS, "Longest pause within a response.", "seconds"
    ),
    Setting(
        "min-speed",
        whole(0, 1_000_000_000, "bytes per second"),
        LIMITS,
        "Drop a response that is slower on average over the idle timeout; 0 for no limit.",
        "bytes per second",
    ),
    Setting(
        "max-wire",
        size(KIB, GIB),
        LIMITS,
        "Drop a body that is larger as transferred; sitemaps may have 50 MiB.",
        "bytes",
    ),
    Setting(
        "parse-cpu",
        decimal(0.1, 3600, "seconds"),
        LIMITS,
        "CPU time for converting one page to Markdown, in worker processes.",
        "seconds",
    ),
    Setting(
        "parse-memory",
        size(131_072 * KIB, 64 * GIB),
        LIMITS,
        "Memory of a worker process that converts pages to Markdown.",
        "bytes",
    ),
    Setting(
        "html-depth",
        whole(16, 10_000, "elements"),
        LIMITS,
        "Keep a page whose elements are nested deeper as plain text.",
        "elements",
    ),
    Setting(
        "html-nodes",
        whole(1000, 1_000_000_000, "nodes"),
        LIMITS,
        "Keep a page with more nodes as plain text.",
        "nodes",
    ),
    Setting(
        "max-body",
        size(KIB, GIB),
        LIMITS,
        "Drop a page that is larger after decompression; sitemaps may have 50 MiB.",
        "bytes",
    ),
    Setting(
        "max-in-flight",
        size(MIB, 64 * GIB),
        LIMITS,
        "Total size of the bodies in transfer or being parsed; beyond it, large transfers wait.",
        "bytes",
    ),
    Setting(
        "max-ratio",
        whole(1, 1_000_000, "times"),
        LIMITS,
        "Drop a body that grows by more when decompressed and exceeds 1 MiB.",
        "times",
    ),
    Setting(
        "max-codings",
        whole(0, 20, "codings"),
        LIMITS,
        "Content codings on top of each other in one body.",
        "codings",
    ),
    Setting(
        "max-header-bytes",
        size(KIB, 256 * KIB),
        LIMITS,
        "Drop a response whose headers are larger in total.",
        "bytes",
    ),
    Setting(
        "max-header-fields",
        whole(1, 4096, "headers"),
        LIMITS,
        "Drop a response with more headers.",
        "headers",
    ),
    Setting(
        "max-redirects",
        whole(0, 100, "redirects"),
        LIMITS,
        "Redirects in a row, meta refresh included.",
        "redirects",
    ),
    Setting("max-url-length", whole(64, 8192, "characters"), LIMITS, "Skip longer URLs.", "characters"),
    Setting(
        "max-links",
        whole(1, 1_000_000, "links"),
        LIMITS,
        "Links taken from one page; the rest are ignored.",
        "links",
    ),
    Setting(
        "max-retry-after",
        decimal(0, 604_800, "seconds"),
        LIMITS,
        "The longest Retry-After to obey; try again after this time if a server asks for more.",
        "seconds",
    ),
    Setting(
        "max-crawl-delay",
        decimal(0, 86_400, "seconds"),
        LIMITS,
        "The longest Crawl-delay to obey; a longer one counts as this.",
        "seconds",
    ),
)
