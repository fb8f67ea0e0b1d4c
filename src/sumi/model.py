"""The nouns of a crawl: what is passed from seed to settlement.

Everything here is a small immutable value. ``msgspec.Struct`` gives slots, fast creation (a page has a
hundred links) and the same shape in memory, in the journal and between processes.
"""

from enum import StrEnum
from typing import Protocol

import msgspec


class Hop(StrEnum):
    """How a URL was found. The hop path from a seed to a page explains why the page was visited."""

    SEED = "seed"  # given by the user
    LINK = "link"  # an <a href> of a page
    REDIRECT = "redirect"  # a Location header or a meta refresh
    CANONICAL = "canonical"  # <link rel=canonical>
    MANIFEST = "manifest"  # listed in a sitemap
    ROBOTS = "robots"  # a Sitemap: line of robots.txt
    GUESS = "guess"  # one of the usual places; it may not exist
    EMBED = "embed"  # an image that a page shows


class Kind(StrEnum):
    """What a URL is expected to be; decides how its body is digested."""

    PAGE = "page"
    SITEMAP = "sitemap"
    PROBE = "probe"  # a page that cannot exist, to learn how its host says so
    IMAGE = "image"  # shown by a page; kept as it comes
    NAVIGATION = "navigation"  # data that scripts make a page's menu of
    FILE = "file"  # linked from a page and named like something to download; kept as it comes


ASSETS = frozenset({Kind.IMAGE, Kind.FILE})


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A URL that was found. ``url`` is its identity: normalized, and the same for ever. It is a name;
    what is requested is ``target``."""

    url: str
    hop: Hop = Hop.LINK
    kind: Kind = Kind.PAGE
    depth: int = 0  # links from the nearest seed; a redirect does not add to it
    referrer: str | None = None
    score: float = 0.0  # lower is fetched first among equals in depth
    redirects: int = 0  # redirects in a row that led here
    # What to request: the URL as it was first written, or as the server has since said that it is spelled.
    # Empty where that is the identity, as it is for most.
    address: str = ""

    @property
    def target(self) -> str:
        return self.address or self.url


class Lease(msgspec.Struct, frozen=True):
    """The right to fetch one URL now. Void once settled, deferred, or past its deadline."""

    candidate: Candidate
    host: str  # the politeness key: see sumi.urls.host_key
    token: int  # unique per lease and store; a settlement with another one is refused
    deadline: float
    attempt: int = 0  # how often it was tried before and failed
    head_answered: bool = False  # in an earlier process: its content is asked for next

    @property
    def url(self) -> str:
        return self.candidate.url

    @property
    def target(self) -> str:
        """What to request."""
        return self.candidate.target


class Request(msgspec.Struct, frozen=True):
    """One HTTP exchange to make."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    # Of the decoded body; more is cut off. None: the fetcher's own limit, beyond which it is a failure.
    max_bytes: int | None = None
    method: str = "GET"
    body: bytes = b""  # of a POST: to a webhook that the user named, or by a script of a rendered page
    plain: bool = False  # never rendered in a browser: robots.txt, a sitemap
    urgent: bool = False  # does not wait for other bodies to go: a page that is here already waits for it


class Timing(msgspec.Struct, frozen=True, gc=False):
    """Clock times of an exchange. ``reached`` is when the server had certainly seen the request: spacing
    counted from there holds in the server's own log, however slow the way was."""

    started: float
    reached: float
    finished: float

    @property
    def latency(self) -> float:
        return self.reached - self.started


class Hold(Protocol):
    """A share of what all bodies in flight may take together."""

    def release(self) -> None:
        """The body is not in flight any more. Idempotent; otherwise it is so when nobody has it any more."""
        ...


class Response(msgspec.Struct, frozen=True):
    """A complete HTTP answer, content-coding already undone. Redirects are answers too."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]  # names in lower case, order and repeats kept
    body: bytes
    timing: Timing
    http_version: str = "1.1"  # "" for what was not heard just now but kept, without most of its headers
    peer: str = ""  # the address that was dialled
    wire_bytes: int = 0  # body bytes as transferred, before decoding
    # Why ``body`` is what a browser made of the page rather than what the server sent; "" where it is not.
    rendered: str = ""
    render_note: str = ""  # what the browser waited for in vain
    proxy: str = ""  # host and port of the proxy that it came through, never its credentials
    hold: Hold | None = None  # None where the body is too small to count

    def header(self, name: str) -> str | None:
        """The first value of a header, or None."""
        for key, value in self.headers:
            if key == name:
                return value
        return None


class PageFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a page once it is settled: the row of every manifest, CSV and database."""

    status: int | None = None
    content_type: str | None = None
    path: str | None = None  # the output file, relative to the output root
    size: int | None = None  # bytes of that file
    sha256: str | None = None  # of that file's content, front matter excluded
    title: str | None = None
    language: str | None = None
    description: str | None = None
    canonical: str | None = None
    robots_meta: str | None = None  # meta robots and X-Robots-Tag, joined
    etag: str | None = None
    last_modified: str | None = None
    location: str | None = None  # where a redirect pointed
    body_bytes: int | None = None
    latency_ms: int | None = None
    fetched_at: float | None = None
    links: int | None = None  # links found on the page, before any rule
    links_dropped: int = 0  # and those beyond what one page may have
    content_key: str | None = None  # the same for pages of the same title and text
    duplicate_of: str | None = None  # the page that holds the same
    simhash: str | None = None  # of the text, 16 hex digits; near-duplicates differ in a few bits
    fruitless: int = 0  # pages of its URL template, this one included, that brought nothing new
    robots_rule: str | None = None  # what robots.txt said to it: the line that decided, or why none did
    content_signal: str | None = None  # from robots.txt and the header: what the text may be used for
    licenses: tuple[str, ...] = ()  # addresses of the licences that the page names
    raw: str | None = None  # SHA-256 of the body as it came, under which it is kept
    raw_at: tuple[str, int, int] | None = None  # where, if many are in one file: name, first byte, length
    charset: str | None = None  # in which the body was read
    page_type: str | None = None  # what the job's policy calls a page of this form
    proxy: str | None = None  # through which it came; None: directly
    spool: tuple[str, int] | None = None  # file and offset of the line that asked for it, if one did
    listed: str | None = None  # JSON: what that line, and those before it, said besides
    revision: str | None = None  # another one whenever something else would be written of the page
    first_captured: float | None = None
    changed_at: float | None = None  # when its content was last found to be another one
    was_path: str | None = None  # of a page that is gone: where its file was
    rendered: str | None = None  # why a browser was used; None where it was not
    render_note: str | None = None  # what that browser waited for in vain
    fidelity: float | None = None  # how much of the page is in its Markdown, 0 to 1
    shortfalls: tuple[str, ...] = ()  # what of it is not: "tables: 0 of 1"
    cached: str | None = None  # how much of it an earlier job had: full or partial; None: nothing
    source: str | None = None  # where the site's own Markdown came from: its address, or "negotiated"
    asset: bool = False  # ``path`` is an image or a file as it came, which others may share, and no page's
    retries: int | None = None  # of the job that fetched it, if that was another
    # What its sitemap dated it, in seconds since the epoch, when it was last asked for; None where that was
    # not over by then, so that it may have changed since.
    lastmod: float | None = None
