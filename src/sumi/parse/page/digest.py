"""What the engine asks about a body, and the answer. ``digester`` does the work, in a worker process.

The crawler's own process knows these types and never loads the parser.
"""

import msgspec

from sumi.model import Kind
from sumi.outcomes import Verdict
from sumi.policy import Preset

# How shortfalls of pages begin that their scripts would have filled, or that have other pages behind them.
UNRENDERED = "scripts: "
ROUTES = "routes: "


class DigestRequest(msgspec.Struct, frozen=True):
    url: str  # where the body came from; links are relative to it
    body: bytes  # content-coding undone
    content_type: str  # the Content-Type header, "" if there was none
    kind: Kind
    preset: Preset
    markdown: bool = False
    max_links: int = 5000
    max_depth: int = 512  # nested elements; deeper pages are degraded to plain text
    max_nodes: int = 1_000_000
    raw: bool = False  # the body is wanted back, packed
    dates: bool = False  # of a sitemap: when its pages were last changed is wanted too
    keep_params: tuple[str, ...] = ()  # the only query parameters of links; none: as the preset has it
    vocabulary: bool = False  # what the page's words are is wanted too: see sumi.parse.page.fingerprint
    alternate: bool = False  # where the page says that it is as Markdown is wanted too
    rival: bytes = b""  # the site's own Markdown of the page, to be held against the page
    assets: bool = False  # the images that the Markdown shows, and links to downloads, are wanted too
    # What ``raw`` is packed with, if anything. It comes with every page, as a worker may be a new one.
    dictionary: bytes = b""
    pack: bool = True  # False: of ``raw`` only the hash is wanted, as the body is kept as it came
    navigation: bool = False  # the data that scripts make the page's menu of is wanted too
    anchors: bool = False  # of places that other pages may link to, in the Markdown
    documents: bool = False  # PDF and its like are pages, too
    full_text: bool = False  # the body is all of a site's Markdown, which is wanted in parts by page


class PageDigest(msgspec.Struct, frozen=True, omit_defaults=True):
    """Links are absolute, normalized, http(s), distinct, in document order."""

    links: list[str]
    title: str | None = None
    language: str | None = None
    description: str | None = None
    canonical: str | None = None
    robots_meta: str | None = None
    refresh: str | None = None  # target of a meta refresh
    markdown: str | None = None  # without front matter
    sha256: str | None = None  # of the Markdown as UTF-8
    charset: str | None = None
    links_dropped: int = 0  # beyond max_links
    sitemaps: list[str] = []  # for a sitemap index: the files it names
    licenses: list[str] = []  # absolute addresses
    simhash: int | None = None  # of the text's words; None where there are none
    vocabulary: bytes = b""  # a bitmap of the text's words, where asked for
    challenge: str = ""  # whose bot check or block page this is; "" for a page
    looks_missing: bool = False  # speaks of a page that does not exist
    raw: bytes = b""  # the body as one zstd frame, where asked for
    raw_sha256: str | None = None  # of the body itself
    modified: dict[str, float] = {}  # of a sitemap: the latest time that a page's date can mean
    cut: bool = False  # of a sitemap or navigation data: there is more that could not be read
    problem: str = ""  # a broken sitemap's end, a degraded page: what was lost and why
    fidelity: float | None = (
        None  # how much of the page is in the Markdown, 0 to 1: see parse.markdown.fidelity
    )
    shortfalls: list[str] = []  # what of it is not: "tables: 0 of 1"
    left_out: dict[str, int] = {}  # words that are not, by what they were in: see parse.markdown.left_out
    alternate: str | None = None  # where the page says that it is as Markdown, where asked for; absolute
    rival_fidelity: float | None = None  # of the rival, where there was one: see ``fidelity``
    # Where the data is that scripts make the page's menu of, where asked for; of such data, where more is.
    navigation: list[str] = []
    images: list[str] = []  # that the Markdown shows, where asked for; absolute, normalized, distinct
    downloads: list[str] = []  # links that the page itself calls downloads, where asked for; likewise
    parts: dict[str, str] = {}  # of a site's full text: the Markdown of each page that it names, by URL
    addresses: dict[str, str] = {}  # how to request what was written otherwise than it is normalized


class Undigested(msgspec.Struct, frozen=True):
    """The body could not be digested: not HTML, beyond a limit, or it broke the parser."""

    verdict: Verdict
