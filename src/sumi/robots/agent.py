"""Product tokens: the one word by which robots.txt and a crawler know each other."""

import re

EVERYONE = "*"

_TOKEN = re.compile(r"[A-Za-z_-]*")
# "Mozilla/5.0 (compatible; name/1.0; +url)": browsers' armour around the name that robots.txt would use.
_DISGUISED = re.compile(r"mozilla/[^(]{0,40}\(compatible;\s*([a-z_-]+)", re.IGNORECASE)


def product_token(user_agent: str) -> str:
    """The product token of a User-Agent header: ``sumi`` for ``sumi/0.1 (+url; mail)``. May be empty."""
    disguised = _DISGUISED.match(user_agent)
    return disguised[1] if disguised else _leading_token(user_agent.lstrip())


def named_agent(value: str) -> str:
    """Whom a User-agent line speaks to, in lower case: a token, ``*``, or "" for nobody that could exist.

    What follows the token (a version, more words) is ignored, as Google's parser does.
    """
    if value[:1] == EVERYONE and not value[1:2].strip():
        return EVERYONE
    return _leading_token(value).lower()


def _leading_token(text: str) -> str:
    found = _TOKEN.match(text)
    return found[0] if found else ""
