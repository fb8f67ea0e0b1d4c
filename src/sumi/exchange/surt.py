"""The key under which an index of web archives sorts a URL: ``org,example,docs)/guide?a=1``."""

import re
from typing import Final
from urllib.parse import urlsplit

_WWW: Final = re.compile(r"^(https?://)www\d*\.", re.IGNORECASE)


def surt(url: str) -> str:
    try:
        parts = urlsplit(_WWW.sub(r"\1", url).lower())
        port = parts.port
    except ValueError:
        return url
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return url
    host = ",".join(reversed(parts.hostname.split(".")))
    usual = {"http": 80, "https": 443}[parts.scheme]
    place = host if port in (None, usual) else f"{host}:{port}"
    query = f"?{'&'.join(sorted(parts.query.split('&')))}" if parts.query else ""
    return f"{place}){parts.path or '/'}{query}"
