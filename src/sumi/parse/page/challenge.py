"""Bot checks and block pages: what stands in for a page when a site takes its reader for a robot.

A page *about* such checks has their names and even their code in its text. So nothing here is sure by
itself: marks are weighed, and a page that answers 200 is only weighed at all if it has next to no text.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final, NamedTuple

# The most text that a page of these has: a sentence or two, a reference number, a form.
MOST_TEXT: Final = 1500
_MOST_BODY: Final = 128 * 1024
_ENOUGH: Final = 3
# An answer that is an error already needs less to be recognised.
_ENOUGH_FOR_ERROR: Final = 2

_TITLE: Final = re.compile(rb"<title[^>]{0,200}>([^<]{0,200})", re.IGNORECASE)


class _Mark(NamedTuple):
    text: bytes  # in lower case
    weight: int
    whose: str


# 3: code that only the check itself contains. 2: code that other pages of the same provider carry too.
# 1: words that an honest page might use.
_IN_BODY: Final = tuple(
    _Mark(text.encode(), weight, whose)
    for whose, weight, texts in (
        ("Cloudflare", 3, ("_cf_chl_opt", "cf-chl-widget", "cf_chl_", "cf-error-details", "chl_page/v1")),
        ("Cloudflare", 2, ("cf-browser-verification", "cdn-cgi/challenge-platform/h/")),
        ("PerimeterX", 3, ("px-captcha", "_pxappid", "captcha.px-cdn.net", "captcha.perimeterx.net")),
        ("DataDome", 3, ("captcha-delivery.com", "datadome.co/captcha")),
        ("Akamai", 3, ("errors.edgesuite.net", "/_sec/cp_challenge", "sec-if-cpt-container")),
        ("Imperva", 3, ("_incapsula_resource", "incapsula incident id")),
        ("AWS WAF", 3, ("awswafintegration", "awswafcookiedomainlist", "token.awswaf.com", "gokuprops")),
        ("Anubis", 3, ("anubis_challenge", "/.within.website/x/cmd/anubis")),
        ("Sucuri", 3, ("sucuri website firewall", "sucuri_cloudproxy")),
        ("DDoS-Guard", 3, ("check.ddos-guard.net", "ddos-guard/js-challenge")),
        ("Kasada", 3, ("ips.js?", "kpsdk.")),
        ("hCaptcha", 1, ("hcaptcha.com/1/api.js", 'class="h-captcha')),
        ("reCAPTCHA", 1, ("google.com/recaptcha", "g-recaptcha")),
        ("Turnstile", 1, ("challenges.cloudflare.com/turnstile",)),
        (
            "an unnamed bot check",
            1,
            (
                "verify you are human",
                "verifying you are human",
                "you are not a robot",
                "you are human",
                "checking your browser",
                "checking if the site connection is secure",
                "enable javascript and cookies to continue",
                "unusual traffic",
                "automated access",
                "you have been blocked",
                "why have i been blocked",
                "ddos protection by",
                "making sure you&#39;re not a bot",
                "making sure you're not a bot",
            ),
        ),
    )
    for text in texts
)
_IN_TITLE: Final = tuple(
    _Mark(text.encode(), weight, whose)
    for text, weight, whose in (
        ("just a moment", 2, "Cloudflare"),
        ("attention required! | cloudflare", 3, "Cloudflare"),
        ("access denied", 1, "a block page"),
        ("pardon our interruption", 2, "Imperva"),
        ("are you a robot", 2, "an unnamed bot check"),
        ("robot check", 2, "an unnamed bot check"),
        ("human verification", 2, "an unnamed bot check"),
        ("security check", 1, "an unnamed bot check"),
        ("ddos-guard", 2, "DDoS-Guard"),
        ("making sure you're not a bot", 3, "Anubis"),
        ("making sure you&#39;re not a bot", 3, "Anubis"),
        ("access to this page has been denied", 3, "PerimeterX"),
        ("captcha", 1, "an unnamed bot check"),
    )
)
_HEADERS: Final = {
    ("cf-mitigated", "challenge"): "Cloudflare",
    ("x-amzn-waf-action", "challenge"): "AWS WAF",
    ("x-amzn-waf-action", "captcha"): "AWS WAF",
    ("x-dd-b", "1"): "DataDome",
    ("x-dd-b", "2"): "DataDome",
}


def challenge_header(headers: Iterable[tuple[str, str]]) -> str:
    """Whose check an answer is by its own word; "" if it does not say."""
    for name, value in headers:
        whose = _HEADERS.get((name, value.strip().lower()))
        if whose is not None:
            return whose
    return ""


def challenge_page(body: bytes, text: str) -> str:
    """Whose check a page is that answered 200; "" for a page. ``text`` is what a reader sees of it."""
    if len(text) > MOST_TEXT or len(body) > _MOST_BODY or not _search_for_marks()(body):
        return ""
    return _weigh(body, _ENOUGH)


def challenge_error(body: bytes) -> str:
    """The same for an answer of 401, 403, 429 or 503."""
    return _weigh(body[:_MOST_BODY], _ENOUGH_FOR_ERROR)


@cache
def _search_for_marks() -> Callable[[bytes], object | None]:
    """Whether any mark is anywhere on a page, in one pass over it.

    Half of a manual's pages are short enough to be asked, and looking for each mark by itself was a tenth of
    what digesting them cost: 470 microseconds for 24 KB, where this takes 40 (and ``re`` 1,700).
    """
    import re2  # here, because the crawler's own process knows this module, but hardly ever weighs a page

    options = re2.Options()
    options.case_sensitive = False
    options.encoding = re2.Options.Encoding.LATIN1  # bytes as they are: a page may be in any encoding
    marks = b"|".join(re2.escape(mark.text) for mark in (*_IN_BODY, *_IN_TITLE))
    search: Callable[[bytes], object | None] = re2.compile(marks, options).search
    return search


def _weigh(body: bytes, enough: int) -> str:
    lower = body.lower()
    title = _TITLE.search(lower)
    found = [mark for mark in _IN_BODY if mark.text in lower]
    if title is not None:
        found += [mark for mark in _IN_TITLE if mark.text in title[1]]
    if sum(mark.weight for mark in found) < enough:
        return ""
    return max(found, key=lambda mark: mark.weight).whose
