"""How a run is operated: how long it may take, where it logs, and what it notifies. Every job has these."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from sumi.policy import Tolerance
from sumi.settings.kinds import ADDRESS, DURATION, FAILURES, MOST_FAILED, NEW_FILE, SECRET_TEXT, many
from sumi.settings.setting import OPERATING as GROUP
from sumi.settings.setting import Setting, grouped, with_defaults
from sumi.settings.sources import from_keywords


class Operating(msgspec.Struct, frozen=True, kw_only=True):
    max_time: float | None = None  # seconds
    log_file: str | None = None
    metrics_file: str | None = None
    notify: str | None = None
    notify_secret: str | None = None
    allow_failed: tuple[str, ...] = ()  # each one outcome, or several with commas
    max_failed: str | None = None

    @property
    def tolerance(self) -> Tolerance:
        named = frozenset(word for words in self.allow_failed for word in words.split(","))
        most = self.max_failed or "0"
        if most.endswith("%"):
            return Tolerance(named, share=float(most[:-1]) / 100)
        return Tolerance(named, count=int(most))


OPERATING: Final = with_defaults(
    grouped(
        GROUP,
        Setting(
            "max-time",
            DURATION,
            "Stop after this time as after one Ctrl-C: pages in flight finish, and the same command "
            "continues.",
            "seconds",
            otherwise="no limit",
        ),
        Setting(
            "log-file",
            NEW_FILE,
            "Append all events to this file as JSON lines, each with its time.",
            otherwise="no log",
        ),
        Setting(
            "metrics-file",
            NEW_FILE,
            "Keep the figures of the run in this file, as Prometheus reads them; a name that ends in .prom.",
            otherwise="none",
        ),
        Setting(
            "notify",
            ADDRESS,
            "At the end, send the summary as JSON to this address by POST, with up to three attempts.",
            otherwise="nobody",
        ),
        Setting(
            "notify-secret",
            SECRET_TEXT,
            "Sign the notification: its header X-Sumi-Signature is sha256= and the HMAC of the body. Prefer "
            "the environment variable: other users of the machine can see flags.",
            otherwise="no signature",
        ),
        Setting(
            "allow-failed",
            many(FAILURES),
            "Failures with these outcomes, such as not_found for dead links, do not count: the run is "
            "limited, not partial, and exits with 0. Repeatable, or a list with commas.",
            otherwise="every failure counts",
        ),
        Setting(
            "max-failed",
            MOST_FAILED,
            "Up to this many other failures, or this share of the pages, do not count either.",
            otherwise="none",
        ),
    ),
    Operating,
)


def checked_operating(values: Mapping[str, object], job: str) -> dict[str, Any]:
    """Keyword arguments as operating settings, by field. Raises UsageError for any other."""
    return from_keywords(values, OPERATING, job)
