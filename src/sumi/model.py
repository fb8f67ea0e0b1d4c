"""The values that are passed along from seed to settlement, small and immutable.

``msgspec.Struct`` gives slots, fast creation (a page has a hundred links) and the same shape in memory, in
the journal and between processes.
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
    LIST = "list"  # in a list that the user gave; its referrer is the place there, such as urls.txt:12


LISTED = frozenset({Hop.MANIFEST, Hop.LIST})


class Kind(StrEnum):
    """What a URL is expected to be; decides how its body is digested."""

    PAGE = "page"
    SITEMAP = "sitemap"
    PROBE = "probe"  # a page that cannot exist, to learn how its host says so
    IMAGE = "image"  # shown by a page; stored unchanged
    NAVIGATION = "navigation"  # data from which scripts build a page's menu
    FILE = "file"  # linked from a page and named like a download; stored unchanged


ASSETS = frozenset({Kind.IMAGE, Kind.FILE})


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A URL that was found. ``url`` is its identity, normalized, and never changes; ``target`` is what is
    requested."""

    url: str
    hop: Hop = Hop.LINK
    kind: Kind = Kind.PAGE
    depth: int = 0  # links from the nearest seed; a redirect does not add to it
    referrer: str | None = None
    score: float = 0.0  # lower is fetched first among equals in depth
    redirects: int = 0  # redirects in a row that led here
    # What to request: the URL as it was first written, or as the server redirected it. Empty where that is
    # the identity, as it is for most URLs.
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
    attempt: int = 0  # failed attempts so far
    head_answered: bool = False  # in an earlier process: its content is requested next

    @property
    def url(self) -> str:
        return self.candidate.url

    @property
    def target(self) -> str:
        """What to request."""
        return self.candidate.target


class Request(msgspec.Struct, frozen=True):
    """One HTTP request to make."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    # The decoded body is cut off here. None: the fetcher's own limit, beyond which the request fails.
    max_bytes: int | None = None
    method: str = "GET"
    body: bytes = b""  # of a POST: to a webhook that the user named, or by a script of a rendered page
    plain: bool = False  # never rendered in a browser: robots.txt, a sitemap
    urgent: bool = False  # does not wait for memory: a page that is already here waits for this one


class Timing(msgspec.Struct, frozen=True, gc=False):
    """Clock times of an exchange. ``reached`` is when the server had certainly seen the request. Spacing is
    counted from there, so that it holds in the server's own log, however slow the network was."""

    started: float
    reached: float
    finished: float

    @property
    def latency(self) -> float:
        return self.reached - self.started


class Hold(Protocol):
    """A share of the memory that all bodies in flight may take together."""

    def release(self) -> None:
        """The body is no longer in flight. Idempotent; happens by itself once nothing refers to it."""
        ...


class Exchange(msgspec.Struct, frozen=True):
    """Both messages of an exchange as they were sent, for archives. Chunks are joined, and no secret of the
    request is in it."""

    request_head: bytes
    response_head: bytes
    body: bytes  # with its content codings
    cut: bool = False  # the body was longer than was wanted


class Response(msgspec.Struct, frozen=True):
    """A complete HTTP response, decompressed. Redirects are responses too."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]  # names in lower case, order and repeats kept
    body: bytes
    timing: Timing
    http_version: str = "1.1"  # "" for a stored response, which lacks most of its headers
    peer: str = ""  # the address that was dialled
    wire_bytes: int = 0  # body bytes as transferred, before decoding
    # Why ``body`` is what a browser rendered; "" if it is what the server sent.
    rendered: str = ""
    render_note: str = ""  # what the browser waited for without success
    proxy: str = ""  # host and port of the proxy that it came through, never its credentials
    hold: Hold | None = None  # None if the body is too small to count
    exchange: Exchange | None = None  # if the fetcher keeps them

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
    duplicate_of: str | None = None  # the page with the same content
    simhash: str | None = None  # of the text, 16 hex digits; near-duplicates differ in a few bits
    fruitless: int = 0  # pages of its URL template, this one included, that brought nothing new
    robots_rule: str | None = None  # the line of robots.txt that decided, or why none did
    content_signal: str | None = None  # from robots.txt and the header: what the text may be used for
    licenses: tuple[str, ...] = ()  # addresses of the licences that the page names
    raw: str | None = None  # SHA-256 of the stored original body
    raw_at: tuple[str, int, int] | None = None  # its place in a pack file: name, first byte, length
    warc: str | None = None  # the id of its response's record in a WARC file
    charset: str | None = None  # that the body was decoded with
    page_type: str | None = None  # what the job's policy calls a page of this form
    proxy: str | None = None  # that it was fetched through; None: directly
    spool: tuple[str, int] | None = None  # file and offset of the spool line that requested it
    listed: str | None = None  # JSON: the other fields of that line and of earlier ones
    revision: str | None = None  # changes whenever the page's output would be written differently
    first_captured: float | None = None
    changed_at: float | None = None  # when its content was last found to differ
    was_path: str | None = None  # of a page that is gone: where its file was
    rendered: str | None = None  # why a browser was used; None if none was
    render_note: str | None = None  # what that browser waited for without success
    fidelity: float | None = None  # how much of the page is in its Markdown, 0 to 1
    shortfalls: tuple[str, ...] = ()  # what is missing from it: "tables: 0 of 1"
    left_out: dict[str, int] | None = None  # words that are not in it, by what they were in
    junk: float | None = None  # how much of it stands on most pages of the site, 0 to 1
    furniture: tuple[
        str, ...
    ] = ()  # hashes of lines that were taken off it because nearly all pages have them
    cached: str | None = None  # how much of it an earlier job had: full or partial; None: nothing
    source: str | None = None  # where the site's own Markdown came from: its address, or "negotiated"
    asset: bool = False  # ``path`` is an image or a file, perhaps shared with others, and not a page's
    retries: int | None = None  # of the job that fetched it, if that was another
    # Its date in the sitemap, in seconds since the epoch, when it was last requested; None if that date was
    # not over by then, so that the page may have changed since.
    lastmod: float | None = None
