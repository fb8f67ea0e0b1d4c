"""The settings that bound one response, page or host, for mirrors and captures."""

from typing import Final

from sumi.settings.kinds import GIB, KIB, MIB, decimal, size, whole
from sumi.settings.setting import LIMITS, Setting, grouped

OF_LIMITS: Final = grouped(
    LIMITS,
    Setting(
        "timeout",
        decimal(1, 86_400, "seconds"),
        "Time for one request.",
        "seconds",
    ),
    Setting(
        "connect-timeout",
        decimal(0.1, 3600, "seconds"),
        "Time for the DNS lookup, and again for connecting with the TLS handshake.",
        "seconds",
    ),
    Setting(
        "first-byte-timeout",
        decimal(0.1, 3600, "seconds"),
        "Time until a response begins.",
        "seconds",
    ),
    Setting("idle-timeout", decimal(0.1, 3600, "seconds"), "Longest pause within a response.", "seconds"),
    Setting(
        "min-speed",
        whole(0, 1_000_000_000, "bytes per second"),
        "Drop a response that is slower on average over the idle timeout; 0 for no limit.",
        "bytes per second",
    ),
    Setting(
        "max-wire",
        size(KIB, GIB),
        "Drop a body that is larger as transferred; sitemaps may have 50 MiB.",
        "bytes",
    ),
    Setting(
        "parse-cpu",
        decimal(0.1, 3600, "seconds"),
        "CPU time for converting one page to Markdown, in worker processes.",
        "seconds",
    ),
    Setting(
        "parse-memory",
        size(131_072 * KIB, 64 * GIB),
        "Memory of a worker process that converts pages to Markdown.",
        "bytes",
    ),
    Setting(
        "html-depth",
        whole(16, 10_000, "elements"),
        "Keep a page whose elements are nested deeper as plain text.",
        "elements",
    ),
    Setting(
        "html-nodes",
        whole(1000, 1_000_000_000, "nodes"),
        "Keep a page with more nodes as plain text.",
        "nodes",
    ),
    Setting(
        "max-body",
        size(KIB, GIB),
        "Drop a page that is larger after decompression; sitemaps may have 50 MiB.",
        "bytes",
    ),
    Setting(
        "max-in-flight",
        size(MIB, 64 * GIB),
        "Total size of the bodies in transfer or being parsed; beyond it, large transfers wait.",
        "bytes",
    ),
    Setting(
        "max-ratio",
        whole(1, 1_000_000, "times"),
        "Drop a body that grows by more when decompressed and exceeds 1 MiB.",
        "times",
    ),
    Setting(
        "max-codings",
        whole(0, 20, "codings"),
        "Content codings on top of each other in one body.",
        "codings",
    ),
    Setting(
        "max-header-bytes",
        size(KIB, 256 * KIB),
        "Drop a response whose headers are larger in total.",
        "bytes",
    ),
    Setting(
        "max-header-fields",
        whole(1, 4096, "headers"),
        "Drop a response with more headers.",
        "headers",
    ),
    Setting(
        "max-redirects",
        whole(0, 100, "redirects"),
        "Redirects in a row, meta refresh included.",
        "redirects",
    ),
    Setting("max-url-length", whole(64, 8192, "characters"), "Skip longer URLs.", "characters"),
    Setting(
        "max-links",
        whole(1, 1_000_000, "links"),
        "Links taken from one page; the rest are ignored.",
        "links",
    ),
    Setting(
        "max-retry-after",
        decimal(0, 604_800, "seconds"),
        "The longest Retry-After to obey; try again after this time if a server asks for more.",
        "seconds",
    ),
    Setting(
        "max-crawl-delay",
        decimal(0, 86_400, "seconds"),
        "The longest Crawl-delay to obey; a longer one counts as this.",
        "seconds",
    ),
)
