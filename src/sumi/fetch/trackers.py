"""Hosts that watch readers and bring nothing that a page consists of; a crawler is no reader."""

from typing import Final

# The usual ones only, by registrable domain. A longer list blocks little more and must be kept up to date.
_DOMAINS: Final = frozenset(
    {
        *("google-analytics.com", "googletagmanager.com", "googletagservices.com", "googlesyndication.com"),
        *(
            "doubleclick.net",
            "googleadservices.com",
            "adservice.google.com",
            "facebook.net",
            "connect.facebook.com",
        ),
        *(
            "hotjar.com",
            "hotjar.io",
            "clarity.ms",
            "bat.bing.com",
            "segment.com",
            "segment.io",
            "mixpanel.com",
        ),
        *("amplitude.com", "heapanalytics.com", "heap.io", "fullstory.com", "mouseflow.com", "crazyegg.com"),
        *(
            "matomo.cloud",
            "plausible.io",
            "usefathom.com",
            "simpleanalyticscdn.com",
            "umami.is",
            "posthog.com",
        ),
        *("newrelic.com", "nr-data.net", "scorecardresearch.com", "quantserve.com", "chartbeat.com"),
        *("chartbeat.net", "adnxs.com", "criteo.com", "criteo.net", "taboola.com", "outbrain.com"),
        *(
            "amazon-adsystem.com",
            "cloudflareinsights.com",
            "statcounter.com",
            "mc.yandex.ru",
            "hs-analytics.net",
        ),
    }
)


def is_tracker(host: str) -> bool:
    """Whether a host, in lower case, is one of them or lies below one."""
    labels = host.rstrip(".").split(".")
    return any(".".join(labels[start:]) in _DOMAINS for start in range(len(labels) - 1))
