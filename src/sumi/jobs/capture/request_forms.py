"""What of a request its answer may depend on: the user's own headers, the user agent, and cookies. Requests
of the same form get the same answer, so one page in the cache can answer both.

A form is stored with its page, and the user's headers may be secret: it holds a salted digest of them that is
slow to compute, so that nobody can find a password by trying many.
"""

from collections.abc import Iterable
from hashlib import blake2b, scrypt
from itertools import product
from typing import Final

from sumi.fetch.headers import CredentialBook, Fields
from sumi.fetch.target import parse_target
from sumi.model import Response
from sumi.policy import NetworkPolicy

AGENT, COOKIE = "user-agent", "cookie"
# Which of the headers that are not the user's own an answer may vary by. All others are always the same.
_WAYS: Final = tuple(
    frozenset(name for name, is_named in zip((AGENT, COOKIE), chosen, strict=True) if is_named)
    for chosen in product((False, True), repeat=2)
)
# 16 MiB and some hundredths of a second, once for each site that the user has a header for.
_SCRYPT: Final = {"n": 2**14, "r": 8, "p": 1, "dklen": 16}


class RequestForms:
    """``hidden_cookies``: others than us may be handed cookies, as a browser is by what its pages load."""

    def __init__(self, network: NetworkPolicy, salt: bytes, *, hidden_cookies: bool) -> None:
        self._book = CredentialBook(network.credentials)
        self._agent = blake2b(network.user_agent.encode(), digest_size=8).hexdigest()
        self._keeps_cookies = network.cookies
        self._has_cookies = network.cookies and hidden_cookies
        self._salt = salt
        self._digests: dict[Fields, str] = {}

    def hear(self, answer: Response) -> None:
        """From the first cookie on nobody knows which are sent where."""
        if self._keeps_cookies and not self._has_cookies:
            self._has_cookies = any(name == "set-cookie" for name, _ in answer.headers)

    def form(self, address: str, varied: Iterable[str]) -> str | None:
        """Of a request whose answer varies by these headers; None if no other is known to be like it."""
        named = frozenset(varied)
        if COOKIE in named and self._has_cookies:
            return None
        agent = self._agent if AGENT in named else ""
        return f"{self._own(address)}/{agent}/{COOKIE if COOKIE in named else ''}"

    def forms(self, address: str) -> tuple[str | None, ...]:
        """All that a request made now is like, whatever its answer varies by."""
        return tuple(self.form(address, way) for way in _WAYS)

    def _own(self, address: str) -> str:
        """Of the user's headers for the address; all of them count, as any may be a key to other pages."""
        target = parse_target(address) if self._book else None
        fields = self._book.fields_for(target) if target is not None else ()
        if fields and fields not in self._digests:
            text = "\n".join(f"{name.lower()}:{value}" for name, value in fields)
            self._digests[fields] = scrypt(text.encode(), salt=self._salt, **_SCRYPT).hex()
        return self._digests[fields] if fields else ""


def varied_in(form: str) -> str:
    """By what the answer to a request of this form varies, as a server would say it."""
    named = zip((AGENT, COOKIE), form.split("/")[1:], strict=False)
    return ", ".join(name for name, is_named in named if is_named)
