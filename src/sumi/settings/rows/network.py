"""The network: failures, credentials, proxies, addresses, trust."""

from sumi.policy import OnError
from sumi.settings.kinds import AUTH, FILE, HEADER, HEADER_FOR, PROXY, RESOLVE, SWITCH, choice, many, whole
from sumi.settings.setting import NETWORK, Setting, grouped

ROWS = grouped(
    NETWORK,
    Setting(
        "retries",
        whole(0, 20, "attempts"),
        "Further attempts after a temporary failure.",
        "attempts",
    ),
    Setting(
        "on-error",
        choice(OnError),
        "When a page fails: skip it, retry temporary failures once everything else is done, or abort the run "
        "with everything saved.",
    ),
    Setting(
        "cookies",
        SWITCH,
        "Send a site's cookies back to it. They stay in memory and end with the run.",
    ),
    Setting(
        "auth",
        AUTH,
        "Basic authentication, sent only to the URL's own scheme, host and port. Prefer the environment "
        "variable: other users of the machine can see flags.",
    ),
    Setting(
        "header",
        many(HEADER),
        "An extra header, sent only to the URL's own scheme, host and port. Repeatable.",
    ),
    Setting(
        "header-for",
        many(HEADER_FOR),
        "An extra header for another site that the job covers, sent only to that site. Repeatable.",
    ),
    Setting(
        "proxy",
        many(PROXY),
        "Use this proxy. Repeatable: hosts are spread over the proxies, and one that fails is rested.",
    ),
    Setting(
        "trust-proxy-dns",
        SWITCH,
        "Let the proxy resolve names. Private addresses are then not checked.",
    ),
    Setting(
        "allow-private",
        SWITCH,
        "Allow private and loopback addresses (never link-local or cloud metadata).",
    ),
    Setting(
        "resolve",
        many(RESOLVE),
        "Use this address for that host and port instead of DNS, as curl does. Repeatable.",
    ),
    Setting(
        "ca-file",
        FILE,
        "Also trust the certificate authorities in this PEM file.",
        otherwise="only the system's",
    ),
)
