"""robots.txt as badly run hosts serve it: the host ``robots-<name>.test`` has the answer of that name.

Everything else on such a host is the ordinary generated site.
"""

import gzip
from itertools import repeat

from tests.site.bad_redirects import to
from tests.site.wire import Asked, Handler, Pause, Reply, Reset, Script, Stall, head, page, table

TEXT = "text/plain"
STATUSES = (401, 403, 404, 410, 429, 500, 503)
DENY_ALL = b"User-agent: *\nDisallow: /\n"


def _status(status: int) -> Handler:
    def answer(_asked: Asked) -> Reply:
        return Reply(status, b"no\n", TEXT)

    answer.__doc__ = f"Answers {status}."
    return answer


def slow(_asked: Asked) -> Script:
    """Allows everything after 300 ms."""
    yield Pause(0.3)
    yield Reply(200, b"User-agent: *\nAllow: /\n", TEXT).encode()


def never(_asked: Asked) -> Script:
    """Never answers."""
    yield Stall()


def reset(_asked: Asked) -> Script:
    """Drops the connection."""
    yield Reset()


def redirect(asked: Asked) -> Reply:
    """Redirects once, to rules that deny everything."""
    if "moved" in asked.query:
        return Reply(200, DENY_ALL, TEXT)
    return to("/robots.txt?moved=1", 301)


def redirect_loop(_asked: Asked) -> Reply:
    """Redirects to itself."""
    return to("/robots.txt")


def redirect_private(_asked: Asked) -> Reply:
    """Redirects to the address where clouds keep their credentials."""
    return to("http://169.254.169.254/robots.txt")


def html(_asked: Asked) -> Reply:
    """An HTML page with 200, as catch-all sites have it."""
    return Reply(200, page("Welcome", "<p>User-agent: *<br>Disallow: /</p>"))


def empty(_asked: Asked) -> Reply:
    """200 and nothing."""
    return Reply(200, b"", TEXT)


def huge(_asked: Asked) -> Reply:
    """Denies everything, beyond the first 600 KiB, which is further than anybody has to read."""
    return Reply(200, b"User-agent: *\n" + b"# padding\n" * 61_440 + b"Disallow: /\n", TEXT)


def endless(_asked: Asked) -> Script:
    """Denies everything, then never ends."""
    yield head(200, [("Content-Type", TEXT)]) + DENY_ALL
    yield from repeat(b"# and on it goes\n" * 2000)


def deny(_asked: Asked) -> Reply:
    """Denies everything to everybody."""
    return Reply(200, DENY_ALL, TEXT)


def delay(_asked: Asked) -> Reply:
    """Asks for a second between requests."""
    return Reply(200, b"User-agent: *\nCrawl-delay: 1\nAllow: /\n", TEXT)


def bom(_asked: Asked) -> Reply:
    """Denies everything, after a byte order mark and with bare CR line ends."""
    return Reply(200, b"\xef\xbb\xbfUser-agent: *\rDisallow: /\r", TEXT)


def gzipped(_asked: Asked) -> Reply:
    """Denies everything, in gzip."""
    return Reply(200, gzip.compress(DENY_ALL, mtime=0), TEXT, (("Content-Encoding", "gzip"),))


def flaky(asked: Asked) -> Reply:
    """503 at first, then allows everything."""
    return Reply(200, b"", TEXT) if asked.earlier else Reply(503, b"later\n", TEXT)


ROUTES: dict[str, Handler] = {str(status): _status(status) for status in STATUSES} | table(
    slow,
    never,
    reset,
    redirect,
    redirect_loop,
    redirect_private,
    html,
    empty,
    huge,
    endless,
    deny,
    delay,
    bom,
    gzipped,
    flaky,
)
