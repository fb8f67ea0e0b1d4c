"""The network: failures, credentials, proxies, addresses, trust."""

from sumi.policy import OnError
from sumi.settings.kinds import AUTH, FILE, HEADER, HEADER_FOR, PROXY, RESOLVE, SWITCH, choice, many, whole
from sumi.settings.setting import NETWORK, Setting

ROWS: tuple[Setting, ...] = (
    Setting(
        "retries",
        whole(0, 20, "attempts"),
        NETWORK,
        "Further attempts after a failure that may pass.",
        "attempts",
    ),
    Setting(
        "on-error",
        choice(OnError),
        NETWORK,
        "A page that failed: skip it, retry passing failures once everything else is done, or abort the run "
        "with everything saved.",
    ),
    Setting(
        "cookies",
        SWITCH,
        NETWORK,
        "Keep the cookies that a site sets, in memory and for this run, and send them back to it.",
    ),
    Setting(
        "auth",
        AUTH,
        NETWORK,
        "Basic authentication for the URL's own scheme, host and port, never for others. Rather a variable "
        "than a flag: other users of the machine can see flags.",
    ),
    Setting(
        "header",
        many(HEADER),
        NETWORK,
        "A further header for the URL's own scheme, host and port, never for others. Repeatable.",
    ),
    Setting(
        "header-for",
        many(HEADER_FOR),
        NETWORK,
        "A further header for another site that the job covers, never for others. Repeatable.",
    ),
    Setting(
        "proxy",
        many(PROXY),
        NETWORK,
        "Go through this proxy. Repeatable: hosts are spread over them, and one that fails is rested.",
    ),
    Setting(
        "trust-proxy-dns",
        SWITCH,
        NETWORK,
        "Let the proxy resolve names. Where they lead is then not checked by anybody.",
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
        "Trust the certificate authorities in this PEM file, besides the system's.",
        otherwise="only the system's",
    ),
)
