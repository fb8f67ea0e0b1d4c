"""The cookies of one run: curl's own jar, shared by all transfers of a fetcher, in memory only.

curl keeps the rules: domain, path, Secure, the __Host- and __Secure- prefixes, expiry, and no cookie for a
public suffix. What it does not keep is the number of cookies in bounds, so that is done here.
"""

from collections import Counter
from typing import Any

import pycurl

from sumi.fetch.headers import Fields, all_values
from sumi.fetch.target import Target

PER_DOMAIN = 50  # as RFC 6265bis asks clients to hold at least
IN_ALL = 3000
_LOOK_AFTER = 50  # new cookies between two counts; curl takes at most 50 from one answer
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
        """An answer came in by way of ``handle``."""
        self._new += len(all_values(fields, "set-cookie"))
        if self._new >= _LOOK_AFTER:
            self._new = 0
            self._trim(handle)

    def besides(self, given: bytes, target: Target, handle: Any) -> bytes:
        """What is to be sent of cookies that come from elsewhere: those that the site has set itself, under
        the same name, are known better here. Nobody is to get two of a name."""
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
        handle.setopt(pycurl.VERBOSE, 0)  # outside a transfer, curl's remarks would reach nobody but stderr
        # curl lists a domain's oldest first; beyond the bounds, the oldest go.
        for number, line in enumerate(reversed(lines)):
            columns = line.split("\t")
            domain = columns[0].removeprefix(_HTTP_ONLY)
            kept[domain] += 1
            if number >= IN_ALL or kept[domain] > PER_DOMAIN:
                columns[4] = _EXPIRED
                handle.setopt(pycurl.COOKIELIST, "\t".join(columns))
        handle.setopt(pycurl.VERBOSE, 1)


def _sent_to(target: Target, columns: list[str]) -> str | None:
    """The name of a cookie as curl lists it, if it goes to the target."""
    if len(columns) < _COLUMNS:
        return None
    domain, for_subdomains, path, secure, _expiry, name = columns[: _COLUMNS - 1]
    domain = domain.removeprefix(_HTTP_ONLY).removeprefix(".")
    host_fits = target.host == domain or (for_subdomains == "TRUE" and target.host.endswith(f".{domain}"))
    own_path = "/" + target.url.split("/", 3)[3].partition("?")[0]
    path_fits = own_path == path or own_path.startswith(path.removesuffix("/") + "/")
    is_open = secure == "FALSE" or target.url.startswith("https:")
    return name if host_fits and path_fits and is_open else None
