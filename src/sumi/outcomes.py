"""Every way a URL can end, in one table. Each URL ends in exactly one, stored with the rule that decided.

The table is the documentation: ``docs/concepts/outcomes.md`` is generated from it.
"""

from enum import StrEnum
from typing import NamedTuple

import msgspec

from sumi.model import Timing


class Ending(StrEnum):
    """The four families of outcomes."""

    DONE = "done"  # the job got what it wanted
    PASSED_OVER = "passed over"  # refused by a rule; not a failure
    FAILED = "failed"  # wanted and tried, but not obtained
    WAITING = "waiting"  # still to do; only in the summary of a run that stopped early


class Outcome(StrEnum):
    CAPTURED = "captured"
    UNCHANGED = "unchanged"
    DUPLICATE = "duplicate"
    REDIRECTED = "redirected"
    READ = "read"
    PROBED = "probed"
    GONE = "gone"
    STORED = "stored"

    BAD_URL = "bad_url"
    OUT_OF_SCOPE = "out_of_scope"
    EXCLUDED = "excluded"
    BLACKLISTED = "blacklisted"
    STUBBED = "stubbed"
    TOO_DEEP = "too_deep"
    UNLISTED = "unlisted"
    LISTED = "listed"
    ROBOTS_DENIED = "robots_denied"
    NOT_HTML = "not_html"
    ABSENT = "absent"
    TRAP = "trap"
    OVER_CAP = "over_cap"
    OVER_BUDGET = "over_budget"
    OVER_QUOTA = "over_quota"
    ASSET_TOO_LARGE = "asset_too_large"
    ASSETS_FULL = "assets_full"
    NOT_AN_ASSET = "not_an_asset"
    NOT_ARCHIVED = "not_archived"

    NOT_FOUND = "not_found"
    SOFT_404 = "soft_404"
    CHALLENGE = "challenge"
    FORBIDDEN = "forbidden"
    CLIENT_ERROR = "client_error"
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    DNS_FAILED = "dns_failed"
    CONNECT_FAILED = "connect_failed"
    CONNECTION_LOST = "connection_lost"
    TLS_FAILED = "tls_failed"
    TIMED_OUT = "timed_out"
    TOO_LARGE = "too_large"
    BAD_ENCODING = "bad_encoding"
    BAD_HTTP = "bad_http"
    ADDRESS_REFUSED = "address_refused"
    REDIRECT_LOOP = "redirect_loop"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    PARSE_FAILED = "parse_failed"
    PARSE_LIMIT = "parse_limit"
    STALE = "stale"
    SITEMAP_CUT = "sitemap_cut"
    RENDER_FAILED = "render_failed"

    PENDING = "pending"


class Meaning(NamedTuple):
    ending: Ending
    meaning: str
    advice: str
    # The properties that code depends on. The sets below are derived from them.
    kept: bool = False  # the job has its content, new or from before: it counts as a page
    transient: bool = False  # temporary: worth a retry
    unreachable: bool = False  # the host was not reached, whatever was requested
    by_rule: bool = False  # refused by a rule that the user can change
    asked_again: bool = False  # may have changed: an update requests it again


MEANINGS: dict[Outcome, Meaning] = {
    Outcome.CAPTURED: Meaning(Ending.DONE, "Fetched, parsed and written.", "", kept=True, asked_again=True),
    Outcome.UNCHANGED: Meaning(
        Ending.DONE,
        "Not changed, by the server's answer or by its content.",
        "",
        kept=True,
        asked_again=True,
    ),
    Outcome.DUPLICATE: Meaning(
        Ending.DONE, "Its content is already here under another URL.", "", asked_again=True
    ),
    Outcome.REDIRECTED: Meaning(
        Ending.DONE, "It redirects; the target is counted separately.", "", asked_again=True
    ),
    Outcome.READ: Meaning(
        Ending.DONE, "A sitemap, or the data of a menu, whose entries were queued.", "", asked_again=True
    ),
    Outcome.PROBED: Meaning(
        Ending.DONE, "Not a page: requested to learn how the site reports missing pages.", ""
    ),
    Outcome.GONE: Meaning(
        Ending.DONE,
        "The site removed it; the last copy is under _gone/.",
        "",
        asked_again=True,
    ),
    Outcome.STORED: Meaning(
        Ending.DONE,
        "An image or a file, stored unchanged under _assets/; not counted as a page.",
        "",
        asked_again=True,
    ),
    Outcome.BAD_URL: Meaning(
        Ending.PASSED_OVER, "Not an http(s) URL that can be requested.", "Usually a typo on the page."
    ),
    Outcome.OUT_OF_SCOPE: Meaning(
        Ending.PASSED_OVER,
        "On a host or path that the job does not cover.",
        "Widen the scope to take it.",
        by_rule=True,
    ),
    Outcome.EXCLUDED: Meaning(
        Ending.PASSED_OVER,
        "Left out by a pattern, or by the page types of the job's profile.",
        "See --include and --exclude, or the scope in the crawl's configuration.",
        by_rule=True,
    ),
    Outcome.BLACKLISTED: Meaning(
        Ending.PASSED_OVER,
        "On a domain that is only counted, never visited.",
        "See [[blacklist]].",
        by_rule=True,
    ),
    Outcome.STUBBED: Meaning(
        Ending.PASSED_OVER,
        "On a domain whose URLs are recorded, but not visited.",
        "See [[stub]].",
        by_rule=True,
    ),
    Outcome.TOO_DEEP: Meaning(
        Ending.PASSED_OVER,
        "Beyond a depth limit: links from the start, or nested sitemap indexes.",
        "Raise the limit that the rule names: --max-depth or --trap-hops.",
        by_rule=True,
    ),
    Outcome.UNLISTED: Meaning(
        Ending.PASSED_OVER,
        "Linked, but not in the site's sitemap.",
        "--follow-links takes linked pages too.",
        by_rule=True,
    ),
    Outcome.LISTED: Meaning(
        Ending.PASSED_OVER, "Found by a run that only lists pages.", "sumi mirror takes it."
    ),
    Outcome.ROBOTS_DENIED: Meaning(
        Ending.PASSED_OVER, "The site's robots.txt asks crawlers to stay away.", "Ask the site's owner."
    ),
    Outcome.NOT_HTML: Meaning(
        Ending.PASSED_OVER, "This job does not handle its content type.", "Nothing to do."
    ),
    Outcome.ABSENT: Meaning(
        Ending.PASSED_OVER,
        "A usual place for a sitemap; the site has none there.",
        "",
        asked_again=True,
    ),
    Outcome.TRAP: Meaning(
        Ending.PASSED_OVER,
        "One of endless URLs that bring nothing new, judged by its form or by similar pages.",
        "If you want such pages, raise the --trap limit that the rule names.",
        by_rule=True,
    ),
    Outcome.OVER_CAP: Meaning(
        Ending.PASSED_OVER,
        "Found, but the page limit was reached first.",
        "Run again with a larger --max-pages.",
    ),
    Outcome.OVER_BUDGET: Meaning(
        Ending.PASSED_OVER,
        "Found, but its host's request limit for one run was reached.",
        "Run again to continue, or raise --max-requests-per-host.",
    ),
    Outcome.OVER_QUOTA: Meaning(
        Ending.PASSED_OVER,
        "Its repository already has as many pages, or pages of this type, as the caps allow.",
        "Raise the cap that the rule names: caps.per_repo_max_pages, _issues or _prs.",
        by_rule=True,
    ),
    Outcome.ASSET_TOO_LARGE: Meaning(
        Ending.PASSED_OVER,
        "An image or a file above the size limit; not stored.",
        "Run again with a larger --max-asset-size.",
    ),
    Outcome.ASSETS_FULL: Meaning(
        Ending.PASSED_OVER,
        "An image or a file; the total size limit was reached.",
        "Run again with a larger --max-assets-total.",
    ),
    Outcome.NOT_AN_ASSET: Meaning(
        Ending.PASSED_OVER,
        "Expected an image or a file, got something else, such as a web page.",
        "Usually a broken image link of the site.",
        asked_again=True,
    ),
    Outcome.NOT_ARCHIVED: Meaning(
        Ending.PASSED_OVER,
        "Linked, but not in the archive that is replayed.",
        "Without --replay it is fetched.",
        asked_again=True,
    ),
    Outcome.NOT_FOUND: Meaning(
        Ending.FAILED, "404 or 410: the page does not exist.", "A dead link of the site.", asked_again=True
    ),
    Outcome.SOFT_404: Meaning(
        Ending.FAILED,
        "Status 200, but with the text that the site shows for missing pages.",
        "A dead link of the site.",
        asked_again=True,
    ),
    Outcome.CHALLENGE: Meaning(
        Ending.FAILED,
        "A bot check or a block page instead of the content; not kept.",
        "Crawl more slowly, or ask the site's owner to let you in.",
        transient=True,
    ),
    Outcome.FORBIDDEN: Meaning(
        Ending.FAILED,
        "401, 403 or 407: the server denied access.",
        "Give credentials, if you have them.",
        asked_again=True,
    ),
    Outcome.CLIENT_ERROR: Meaning(Ending.FAILED, "Another 4xx status.", "See the status in the record."),
    Outcome.SERVER_ERROR: Meaning(
        Ending.FAILED,
        "5xx on every attempt.",
        "Run again later to retry it.",
        transient=True,
    ),
    Outcome.RATE_LIMITED: Meaning(
        Ending.FAILED, "429 on every attempt.", "Lower the rate and run again.", transient=True
    ),
    Outcome.DNS_FAILED: Meaning(
        Ending.FAILED,
        "The host name did not resolve.",
        "Check the name, or try later.",
        transient=True,
        unreachable=True,
    ),
    Outcome.CONNECT_FAILED: Meaning(
        Ending.FAILED,
        "The server did not accept the connection.",
        "Try later.",
        transient=True,
        unreachable=True,
    ),
    Outcome.CONNECTION_LOST: Meaning(
        Ending.FAILED, "The connection broke before the response was complete.", "Try later.", transient=True
    ),
    Outcome.TLS_FAILED: Meaning(
        Ending.FAILED,
        "The certificate is not valid for the host, or the handshake failed.",
        "See --ca-file.",
        unreachable=True,
    ),
    Outcome.TIMED_OUT: Meaning(Ending.FAILED, "Exceeded a time limit.", "Try later.", transient=True),
    Outcome.TOO_LARGE: Meaning(Ending.FAILED, "Larger than the size limit; not kept.", "Raise --max-body."),
    Outcome.BAD_ENCODING: Meaning(
        Ending.FAILED, "Its compression is broken, unknown, or expands beyond the limit.", ""
    ),
    Outcome.BAD_HTTP: Meaning(
        Ending.FAILED,
        "The response was not valid HTTP, or its length was contradictory.",
        "A fault of the server; tell its owner.",
        transient=True,
    ),
    Outcome.ADDRESS_REFUSED: Meaning(
        Ending.FAILED,
        "The name resolves to a private, loopback or otherwise special address.",
        "Use --allow-private if that is what you want.",
        unreachable=True,
    ),
    Outcome.REDIRECT_LOOP: Meaning(Ending.FAILED, "It redirects to itself, directly or through others.", ""),
    Outcome.TOO_MANY_REDIRECTS: Meaning(Ending.FAILED, "Redirected too many times in a row.", ""),
    Outcome.ROBOTS_UNREACHABLE: Meaning(
        Ending.FAILED,
        "robots.txt could not be fetched (server error or no answer): stay away for now.",
        "Run again later.",
        transient=True,
    ),
    Outcome.PARSE_FAILED: Meaning(
        Ending.FAILED, "Its content could not be parsed.", "Please report the page."
    ),
    Outcome.PARSE_LIMIT: Meaning(Ending.FAILED, "Parsing it exceeded the limit on time or memory.", ""),
    Outcome.RENDER_FAILED: Meaning(
        Ending.FAILED,
        "The browser crashed, took too long or used too much memory.",
        "Run again, raise --render-timeout, or skip rendering with --render none.",
        transient=True,
    ),
    Outcome.STALE: Meaning(
        Ending.FAILED,
        "It could not be fetched again; the copy of an earlier run is kept.",
        "Run again later.",
        kept=True,
        transient=True,
    ),
    Outcome.SITEMAP_CUT: Meaning(
        Ending.FAILED,
        "A sitemap, or the data of a menu, that is damaged or too large: only the pages listed at its "
        "beginning were taken.",
        "Tell its owner; --follow-links finds pages that it does not list.",
        asked_again=True,
    ),
    Outcome.PENDING: Meaning(Ending.WAITING, "Not done yet.", "Run the same command again to continue."),
}


BY_ENDING: dict[Ending, frozenset[Outcome]] = {
    ending: frozenset(one for one, meaning in MEANINGS.items() if meaning.ending is ending)
    for ending in Ending
}
KEPT = frozenset(one for one, meaning in MEANINGS.items() if meaning.kept)
UP_TO_DATE = KEPT & BY_ENDING[Ending.DONE]  # kept and checked with its server: not stale
CAME = KEPT | {Outcome.DUPLICATE}  # a page with content arrived
TRANSIENT = frozenset(one for one, meaning in MEANINGS.items() if meaning.transient)
UNREACHABLE = frozenset(one for one, meaning in MEANINGS.items() if meaning.unreachable)
BY_RULE = frozenset(one for one, meaning in MEANINGS.items() if meaning.by_rule)
# The first two groups of what keeps a job from its host: the name or address, and the way there.
NAMELESS = frozenset({Outcome.DNS_FAILED, Outcome.ADDRESS_REFUSED})
NO_ANSWER = (UNREACHABLE - NAMELESS) | {
    Outcome.TIMED_OUT,
    Outcome.CONNECTION_LOST,
    Outcome.ROBOTS_UNREACHABLE,
}
ASKED_AGAIN = frozenset(one for one, meaning in MEANINGS.items() if meaning.asked_again)


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """An outcome and what decided it: the rule, the status line, the error message."""

    outcome: Outcome
    rule: str = ""

    @property
    def ending(self) -> Ending:
        return MEANINGS[self.outcome].ending


class Trouble(msgspec.Struct, frozen=True):
    """A failed request, as a value."""

    verdict: Verdict
    timing: Timing
    retry_after: float | None = None  # seconds, where the server asked for it
