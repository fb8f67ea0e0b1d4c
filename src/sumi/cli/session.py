"""``sumi session open|list|forget``: sessions that a person logged in to, for runs with ``--login``."""

import sys
import time
from collections.abc import Sequence

from sumi.console.logging_in import KEEP_DAYS, log_in_and_keep, moment
from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError
from sumi.fetch.kept_session import forget_session, kept_sessions
from sumi.settings.kinds import URL, parsed

_DONE = 0
_LONGEST_DAYS = 366.0
_EXAMPLES = """\
examples:
  sumi session open https://members.example.org/login       log in, in a browser window
  sumi session open https://sso.example.org docs.example.org     one for another site, by its sign-in service
  sumi mirror https://members.example.org --login https://members.example.org/login
  sumi session list
  sumi session forget members.example.org
"""


def open_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi session open",
        usage="sumi session open [--keep DAYS] [--browser PATH] URL [SITE...]",
        description="Opens a browser window for you to log in, and keeps the session for runs with --login: "
        "the cookies and the local storage of these sites, in a file that only you can read.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("url", metavar="URL", help="The page to log in at.")
    parser.add_argument("sites", metavar="SITE", nargs="*", help="Sites that it logs you in to, if others.")
    parser.add_argument(
        "--keep",
        metavar="DAYS",
        default=f"{KEEP_DAYS:g}",
        help=f"Forget it after this many days. Default: {KEEP_DAYS:g}.",
    )
    parser.add_argument("--browser", metavar="PATH", help="The Chromium or Chrome to use.")
    return parser


def run_open(arguments: Sequence[str]) -> int:
    options = open_parser().parse_all(arguments)
    url, *sites = (str(parsed(URL, text, "URL")) for text in (options.url, *options.sites))
    log_in_and_keep(url, sites, options.browser, _days(options.keep))
    return _DONE


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = 0.0
    if not 0 < days <= _LONGEST_DAYS:
        raise UsageError(f"--keep {text!r} must be a number of days up to {_LONGEST_DAYS:g}")
    return days


def list_parser() -> SentenceParser:
    return SentenceParser(
        prog="sumi session list",
        usage="sumi session list",
        description="Lists the sessions that are kept, what each is for, and until when.",
        epilog=_EXAMPLES,
    )


def run_list(arguments: Sequence[str]) -> int:
    list_parser().parse_all(arguments)
    out, now, count = Sink(sys.stdout), time.time(), 0
    for name, session in kept_sessions():
        count += 1
        state = session.why_unusable(now) or f"until {moment(session.expires)}"
        out.line(f"{name:<30} {state:<24} {printable(' '.join(session.hosts))}")
    if not count:
        Sink(sys.stderr).line("no session is kept; sumi session open URL makes one")
    return _DONE


def forget_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi session forget",
        usage="sumi session forget NAME...",
        description="Removes sessions from this machine. Sites may go on honouring them: log out there too.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("names", metavar="NAME", nargs="+", help="As sumi session list shows it.")
    return parser


def run_forget(arguments: Sequence[str]) -> int:
    options = forget_parser().parse_all(arguments)
    missing = [name for name in options.names if not forget_session(name)]
    if missing:
        raise UsageError(f"no session is called {missing[0]}; sumi session list shows them")
    return _DONE
