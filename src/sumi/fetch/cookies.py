"""The cookies of one run: curl's own jar, shared by all transfers of a fetcher, in memory only.

curl keeps the rules: domain, path, Secure, the __Host- and __Secure- prefixes, expiry, and no cookie for a
public suffix. What it does not keep is the number of cookies in bounds, so that is done here.
"""

from collections import Counter
from typing import Any

import pycurl

from sumi.fetch.headers import Fields, all_values

PER_DOMAIN = 50  # as RFC 6265bis asks clients to hold at least
IN_ALL = 3000
_LOOK_AFTER = 50  # new cookies between two counts; curl takes at most 50 from one answer
_HTTP_ONLY = "#HttpOnly_"
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

    def close(self) -> None:
        """After every handle that was attached."""
        self._share.close()

    def _trim(self, handle: Any) -> None:
        lines: list[str] = handle.getinfo(pycurl.INFO_COOKIELIST)
        kept: Counter[str] = Counter()
        # curl lists a domain's oldest first; beyond the bounds, the oldest go.
        for number, line in enumerate(reversed(lines)):
            columns = line.split("\t")
            domain = columns[0].removeprefix(_HTTP_ONLY)
            kept[domain] += 1
            if number >= IN_ALL or kept[domain] > PER_DOMAIN:
                columns[4] = _EXPIRED
                handle.setopt(pycurl.COOKIELIST, "\t".join(columns))
