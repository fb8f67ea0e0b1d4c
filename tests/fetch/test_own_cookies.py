"""Which of the user's own cookies are sent besides those that a site has set."""

import pytest

from sumi.fetch.cookies import CookieJar
from sumi.fetch.target import parse_target

GIVEN = b"session=mine; theme=dark"


class Handle:
    """Lists one cookie as curl does: domain, for subdomains, path, secure, expiry, name, value."""

    def __init__(self, *columns: str) -> None:
        self._line = "\t".join((*columns, "0", "session", "the site's"))

    def getinfo(self, _what: int) -> list[str]:
        return [self._line]


@pytest.mark.parametrize(
    ("columns", "url", "is_sent"),
    [
        (("a.test", "FALSE", "/", "FALSE"), "http://a.test/", True),
        (("#HttpOnly_a.test", "FALSE", "/", "FALSE"), "http://a.test/x", True),
        (("a.test", "FALSE", "/", "FALSE"), "http://b.a.test/", False),
        ((".a.test", "TRUE", "/", "FALSE"), "http://b.a.test/", True),
        ((".a.test", "TRUE", "/", "FALSE"), "http://ba.test/", False),
        (("a.test", "FALSE", "/docs", "FALSE"), "http://a.test/docs/x?y", True),
        (("a.test", "FALSE", "/docs", "FALSE"), "http://a.test/docs-old", False),
        (("a.test", "FALSE", "/", "TRUE"), "https://a.test/", True),
        (("a.test", "FALSE", "/", "TRUE"), "http://a.test/", False),
    ],
)
def test_a_cookie_of_the_same_name_is_left_out_only_where_the_site_s_own_is_sent(
    columns: tuple[str, ...], url: str, is_sent: bool
) -> None:
    target = parse_target(url)
    assert target is not None
    sent = CookieJar().besides(GIVEN, target, Handle(*columns))
    assert sent == (b"theme=dark" if is_sent else GIVEN)
