"""Notices that the session of a cookie file has ended, before a site's pages are lost to its sign-in page."""

import re
from typing import Final

from sumi.engine.control import Control
from sumi.events import Event, Listener, PageSettled
from sumi.outcomes import Ending, Outcome
from sumi.settings.shared import SharedSettings

IN_A_ROW: Final = 5
_SIGN_IN: Final = re.compile(r"→ \S*/(?:log|sign)[-_]?(?:in|on)\b", re.IGNORECASE)
_ENDED: Final = (
    f"the session seems to have ended: {IN_A_ROW} pages in a row were refused, or led to a sign-in page; log "
    "in again, write the cookie file anew, and run the same command with --update"
)


def session_watch(settings: SharedSettings, control: Control) -> tuple[Listener, ...]:
    return () if settings.cookie_file is None else (SessionWatch(control),)


class SessionWatch:
    """Stops the run as one Ctrl-C would, so that it can go on."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._in_a_row = 0

    def __call__(self, event: Event) -> None:
        if not isinstance(event, PageSettled):
            return
        if event.outcome == Outcome.FORBIDDEN or _SIGN_IN.search(event.rule):
            self._in_a_row += 1
        elif event.ending is Ending.DONE:
            self._in_a_row = 0
        if self._in_a_row == IN_A_ROW and not self._control.stopping:
            self._control.stop(_ENDED)
