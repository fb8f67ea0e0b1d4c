"""Pages that mislead whoever follows them: traps without end, disguises, and links out of bounds."""

import hashlib
from html import escape

from tests.site.wire import Asked, Reply, page, table


def _anchors(*hrefs: str) -> str:
    return "".join(f'<p><a href="{href}">{href[:60]}</a></p>' for href in hrefs)


def meta_refresh(_asked: Asked) -> Reply:
    """An immediate refresh to an ordinary page."""
    return Reply(200, page("Refresh", extra_head='<meta http-equiv="refresh" content="0; url=/bad/plain">'))


def meta_refresh_self(asked: Asked) -> Reply:
    """An immediate refresh to itself."""
    return Reply(200, page("Again", extra_head=f'<meta http-equiv="refresh" content="0; url={asked.path}">'))


def meta_refresh_private(_asked: Asked) -> Reply:
    """An immediate refresh to the address where clouds keep their credentials."""
    return Reply(
        200, page("Away", extra_head='<meta http-equiv="refresh" content="0; url=http://169.254.169.254/">')
    )


def many_links(asked: Asked) -> Reply:
    """N (20,000) links to pages that exist."""
    return Reply(200, page("Links", _anchors(*(f"/bad/plain?n={i}" for i in range(asked.number_or(20_000))))))


def calendar(asked: Asked) -> Reply:
    """A calendar with a page for every month there will ever be."""
    year, _, month = (asked.rest or "2024/01").partition("/")
    known = len(year + month) < 12 and all(part.isascii() and part.isdecimal() for part in (year, month))
    at = int(year) * 12 + int(month) - 1 if known else 2024 * 12
    months = [f"/bad/calendar/{step // 12:04}/{step % 12 + 1:02}" for step in (max(at - 1, 0), at + 1)]
    return Reply(200, page(f"Calendar {at}", "<p>No events this month.</p>" + _anchors(*months)))


def session_id(asked: Asked) -> Reply:
    """The same three pages under a new session id on every visit."""
    token = hashlib.sha256(f"{asked.target} {asked.earlier}".encode()).hexdigest()[:16]
    return Reply(200, page("Session", _anchors(*(f"/bad/session-id?page={i}&sid={token}" for i in range(3)))))


def growing_path(asked: Asked) -> Reply:
    """Links that make the path longer for ever."""
    here = asked.path.rstrip("/")
    return Reply(200, page("Deeper", _anchors(f"{here}/a", f"{here}/b")))


def facets(asked: Asked) -> Reply:
    """Filters that can be combined in every order."""
    query = escape(asked.target.partition("?")[2])
    filters = (f"/bad/facets?{query}&amp;{name}=1" for name in ("red", "new", "big"))
    return Reply(200, page("Filter", _anchors(*filters)))


def soft_404(asked: Asked) -> Reply:
    """200 with the words of a 404, for any path beneath it."""
    regret = f"<p>Sorry, we could not find the page you asked for ({len(asked.rest)}).</p>"
    return Reply(200, page("Page not found", regret))


def canonical_elsewhere(_asked: Asked) -> Reply:
    """A canonical link to another site."""
    return Reply(
        200, page("Copy", extra_head='<link rel="canonical" href="https://elsewhere.example/original">')
    )


def canonical_plain(_asked: Asked) -> Reply:
    """A canonical link to another page of this site."""
    return Reply(200, page("Variant", extra_head='<link rel="canonical" href="/bad/plain">'))


def base_href(_asked: Asked) -> Reply:
    """A base that moves every relative link to another folder."""
    return Reply(200, page("Base", '<a href="plain">plain</a>', '<base href="/bad/">'))


def base_href_offsite(_asked: Asked) -> Reply:
    """A base that moves every relative link to another site."""
    return Reply(200, page("Base", '<a href="plain">plain</a>', '<base href="https://elsewhere.example/">'))


def noindex(_asked: Asked) -> Reply:
    """Asks by meta and by header not to be indexed."""
    meta = '<meta name="robots" content="noindex, nofollow">'
    return Reply(200, page("Unindexed", extra_head=meta), headers=(("X-Robots-Tag", "noarchive"),))


def javascript_only(_asked: Asked) -> Reply:
    """Nothing to read without running its script."""
    script = '<script src="/app.js"></script><noscript>Please enable JavaScript.</noscript>'
    shell = f'<html><head><title>App</title></head><body><div id="root"></div>{script}</body></html>'
    return Reply(200, f"<!DOCTYPE html>{shell}".encode())


def challenge(_asked: Asked) -> Reply:
    """A bot check that answers 200."""
    script = '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>'
    return Reply(200, page("Just a moment...", "<p>Verifying you are human.</p>" + script))


def challenge_403(_asked: Asked) -> Reply:
    """A bot check that answers 403."""
    body = page("Attention required", "<p>Checking your browser.</p>")
    return Reply(403, body, headers=(("cf-mitigated", "challenge"),))


def nasty_links(_asked: Asked) -> Reply:
    """Links of every kind that must not be requested, beside one that may."""
    return Reply(
        200,
        page(
            "Odd links",
            _anchors(
                "/bad/plain",
                "javascript:alert(1)",
                "mailto:a@elsewhere.example",
                "data:text/html,x",
                "file:///etc/passwd",
                "http://169.254.169.254/latest/meta-data/",
                "http://localhost:1/",
                "http://[::1]:1/",
                "http://a@b@elsewhere.example/",
                "http://elsewhere.example:65536/",
                "http:////elsewhere.example",
                "//elsewhere.example/protocol-relative",
                "\\\\elsewhere.example\\share",
                "/bad/../../../../etc/passwd",
                "/bad/plain?q=%00%0d%0aSet-Cookie:x",
            ),
        ),
    )


ROUTES = table(
    meta_refresh,
    meta_refresh_self,
    meta_refresh_private,
    many_links,
    calendar,
    session_id,
    growing_path,
    facets,
    soft_404,
    canonical_elsewhere,
    canonical_plain,
    base_href,
    base_href_offsite,
    noindex,
    javascript_only,
    challenge,
    challenge_403,
    nasty_links,
)
