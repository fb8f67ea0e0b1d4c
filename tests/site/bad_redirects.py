"""Redirects that lead in circles, nowhere, or where a crawler must not go."""

from tests.site.wire import Asked, Reply, page, table


def to(location: str, status: int = 302, *extra: tuple[str, str]) -> Reply:
    return Reply(status, page("Moved"), headers=(("Location", location), *extra))


def redirect_ok(_asked: Asked) -> Reply:
    """A permanent redirect to an ordinary page."""
    return to("/bad/plain", 301)


def redirect_relative(_asked: Asked) -> Reply:
    """A relative Location with a fragment."""
    return to("plain#part", 307)


def redirect_self(asked: Asked) -> Reply:
    """To itself."""
    return to(asked.target)


def redirect_loop_a(_asked: Asked) -> Reply:
    """To redirect-loop-b, which leads back here."""
    return to("/bad/redirect-loop-b")


def redirect_loop_b(_asked: Asked) -> Reply:
    """To redirect-loop-a, which leads back here."""
    return to("/bad/redirect-loop-a")


def redirect_chain(asked: Asked) -> Reply:
    """N (5) redirects in a row, then a page."""
    left = asked.number_or(5)
    return to(f"/bad/redirect-chain-{left - 1}") if left > 0 else Reply(200, page("End of the chain"))


def redirect_endless(asked: Asked) -> Reply:
    """Always on to one more URL that nobody has seen."""
    return to(f"/bad/redirect-endless-{asked.number_or(0) + 1}")


def redirect_offsite(_asked: Asked) -> Reply:
    """To a host that no job here covers."""
    return to("https://elsewhere.example/landing")


def redirect_private(_asked: Asked) -> Reply:
    """To the address where clouds keep their credentials."""
    return to("http://169.254.169.254/")


def redirect_private_range(_asked: Asked) -> Reply:
    """To a private network."""
    return to("http://10.0.0.1/admin")


def redirect_loopback_other_port(_asked: Asked) -> Reply:
    """To another port of this machine."""
    return to("http://127.0.0.1:9/")


def redirect_file_scheme(_asked: Asked) -> Reply:
    """To a local file."""
    return to("file:///etc/passwd")


def redirect_javascript(_asked: Asked) -> Reply:
    """To a script."""
    return to("javascript:alert(1)")


def redirect_no_location(_asked: Asked) -> Reply:
    """302 without a Location."""
    return Reply(302, page("Moved, but where"))


def redirect_bad_location(_asked: Asked) -> Reply:
    """A Location that is no URL."""
    return to("http://[nonsense:::/%%%")


def redirect_empty_location(_asked: Asked) -> Reply:
    """An empty Location."""
    return to("")


def redirect_raw_utf8(_asked: Asked) -> Reply:
    """A Location in unencoded UTF-8, with a blank."""
    return to("/bad/plain?name=caf\u00e9 noir".encode().decode("latin-1"))


def redirect_two_locations(_asked: Asked) -> Reply:
    """Two Location headers."""
    return to("/bad/plain", 302, ("Location", "https://elsewhere.example/second"))


def redirect_huge_location(_asked: Asked) -> Reply:
    """A Location of 20,000 characters."""
    return to("/bad/plain?" + "a" * 20_000)


def redirect_300(_asked: Asked) -> Reply:
    """300 with a choice of links and no Location."""
    return Reply(300, page("Choose", '<a href="/bad/plain">this</a>'))


def cookie_wall(asked: Asked) -> Reply:
    """Redirects to itself until the cookie that it sets comes back."""
    if "pass=1" in asked.headers.get("cookie", ""):
        return Reply(200, page("Behind the wall"))
    return to(asked.target, 302, ("Set-Cookie", "pass=1; Path=/"))


ROUTES = table(
    redirect_ok,
    redirect_relative,
    redirect_self,
    redirect_loop_a,
    redirect_loop_b,
    redirect_chain,
    redirect_endless,
    redirect_offsite,
    redirect_private,
    redirect_private_range,
    redirect_loopback_other_port,
    redirect_file_scheme,
    redirect_javascript,
    redirect_no_location,
    redirect_bad_location,
    redirect_empty_location,
    redirect_raw_utf8,
    redirect_two_locations,
    redirect_huge_location,
    redirect_300,
    cookie_wall,
)
