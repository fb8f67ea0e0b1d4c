"""Notices that a browser's session has ended, before a site's pages are lost to its sign-in page."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from sumi.engine.control import Control
from sumi.engine.summary import SIGN_IN
from sumi.errors import SumiError
from sumi.events import Event, Listener, PageSettled
from sumi.fetch.kept_session import mark_ended
from sumi.outcomes import Ending, Outcome
from sumi.policy import BrowserSession, NetworkPolicy

IN_A_ROW: Final = 5
_SIGN_IN: Final = re.compile(rf"→ \S*{SIGN_IN.pattern}", re.IGNORECASE)
_ENDED: Final = (
    f"the session seems to have ended: {IN_A_ROW} pages in a row were refused, or led to a sign-in page; "
)


def session_watch(network: NetworkPolicy, control: Control) -> tuple[Listener, ...]:
    return () if network.session is None else (SessionWatch(network.session, control),)


class SessionWatch:
    """Stops the run as one Ctrl-C would, so that it can go on."""

    def __init__(self, session: BrowserSession, control: Control) -> None:
        self._session = session
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
            self._control.stop(_ENDED + self._session.log_in_again)
            if self._session.file is not None:
                with suppress(SumiError):  # without the mark, the next run finds out again
                    mark_ended(Path(self._session.file))
