"""The cookies of one run: curl's own jar, shared by all transfers of a fetcher, in memory only.

curl applies the rules: domain, path, Secure, the __Host- and __Secure- prefixes, expiry, no cookie for a
public suffix. It does not limit the number of cookies, so that is done here.
"""

from collections import Counter
from typing import Any

import pycurl

from sumi.fetch.headers import Fields, all_values
from sumi.fetch.target import Target

PER_DOMAIN = 50  # the minimum by RFC 6265bis
IN_ALL = 3000
_COUNT_AFTER = 50  # new cookies; curl takes at most 50 from one response
_HTTP_ONLY = "#HttpOnly_"
_COLUMNS = 7  # domain, whether for its subdomains, path, whether Secure, expiry, name, value
_EXPIRED = "1"  # seconds since the epoch


class CookieJar:
    def __init__(self) -> None:
        self._share: Any = pycurl.CurlShare()
        self._share.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
        self._new = 0

    def attach(self, handle: Any) -> None:
        handle.setopt(pycurl.SHARE, self._share)
        handle.setopt(pycurl.COOKIEFILE, "")  # no file: it only switches the jar on

    def received(self, fields: Fields, handle: Any) -> None:
        """A response came on ``handle``."""
        self._new += len(all_values(fields, "set-cookie"))
        if self._new >= _COUNT_AFTER:
            self._new = 0
            self._trim(handle)

    def besides(self, given: bytes, target: Target, handle: Any) -> bytes:
        """The user's own cookies, without those that the site has since set itself: no name is sent twice."""
        lines: list[str] = handle.getinfo(pycurl.INFO_COOKIELIST)
        sent = {name for line in lines if (name := _sent_to(target, line.split("\t"))) is not None}
        pairs = (pair.strip() for pair in given.split(b";"))
        return b"; ".join(
            pair for pair in pairs if pair and pair.partition(b"=")[0].strip().decode("latin-1") not in sent
        )

    def close(self) -> None:
        """After every handle that was attached."""
        self._share.close()

    def _trim(self, handle: Any) -> None:
        lines: list[str] = handle.getinfo(pycurl.INFO_COOKIELIST)
        kept: Counter[str] = Counter()
        handle.setopt(pycurl.VERBOSE, 0)  # outside a transfer, curl would write to stderr
        # curl lists the oldest of a domain first; beyond the limits, the oldest go.
        for number, line in enumerate(reversed(lines)):
            columns = line.split("\t")
            domain = columns[0].removeprefix(_HTTP_ONLY)
            kept[domain] += 1
            if number >= IN_ALL or kept[domain] > PER_DOMAIN:
                columns[4] = _EXPIRED
                handle.setopt(pycurl.COOKIELIST, "\t".join(columns))
        handle.setopt(pycurl.VERBOSE, 1)


def _sent_to(target: Target, columns: list[str]) -> str | None:
    """The name of a cookie in curl's list, if it is sent to the target."""
    if len(columns) < _COLUMNS:
        return None
    domain, for_subdomains, path, secure, _expiry, name = columns[: _COLUMNS - 1]
    domain = domain.removeprefix(_HTTP_ONLY).removeprefix(".")
    host_fits = target.host == domain or (for_subdomains == "TRUE" and target.host.endswith(f".{domain}"))
    own_path = "/" + target.url.split("/", 3)[3].partition("?")[0]
    path_fits = own_path == path or own_path.startswith(path.removesuffix("/") + "/")
    is_open = secure == "FALSE" or target.url.startswith("https:")
    return name if host_fits and path_fits and is_open else None
