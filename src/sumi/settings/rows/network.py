"""The network: failures, credentials, proxies, addresses, trust."""

from sumi.policy import OnError
from sumi.settings.kinds import AUTH, FILE, HEADER, HEADER_FOR, PROXY, RESOLVE, SWITCH, choice, many, whole
from sumi.settings.setting import NETWORK, Setting

ROWS: tuple[Setting, ...] = (
    Setting(
        "retries",
        whole(0, 20, "attempts"),
        NETWORK,
        "Further attempts after a temporary failure.",
        "attempts",
    ),
    Setting(
        "on-error",
        choice(OnError),
        NETWORK,
        "When a page fails: skip it, retry temporary failures once everything else is done, or abort the run "
        "with everything saved.",
    ),
    Setting(
        "cookies",
        SWITCH,
        NETWORK,
        "Send a site's cookies back to it. They stay in memory and end with the run.",
    ),
    Setting(
        "auth",
        AUTH,
        NETWORK,
        "Basic authentication, sent only to the URL's own scheme, host and port. Prefer the environment "
        "variable: other users of the machine can see flags.",
    ),
    Setting(
        "header",
        many(HEADER),
        NETWORK,
        "An extra header, sent only to the URL's own scheme, host and port. Repeatable.",
    ),
    Setting(
        "header-for",
        many(HEADER_FOR),
        NETWORK,
        "An extra header for another site that the job covers, sent only to that site. Repeatable.",
    ),
    Setting(
        "proxy",
        many(PROXY),
        NETWORK,
        "Use this proxy. Repeatable: hosts are spread over the proxies, and one that fails is rested.",
    ),
    Setting(
        "trust-proxy-dns",
        SWITCH,
        NETWORK,
        "Let the proxy resolve names. Private addresses are then not checked.",
    ),
    Setting(
        "allow-private",
        SWITCH,
        NETWORK,
        "Allow private and loopback addresses (never link-local or cloud metadata).",
    ),
    Setting(
        "resolve",
        many(RESOLVE),
        NETWORK,
        "Use this address for that host and port instead of DNS, as curl does. Repeatable.",
    ),
    Setting(
        "ca-file",
        FILE,
        NETWORK,
        "Also trust the certificate authorities in this PEM file.",
        otherwise="only the system's",
    ),
)
