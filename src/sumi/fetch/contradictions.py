"""Heads that say two things about where their answer ends. Whoever believes one half reads another page than
whoever believes the other, and on a kept connection the next page as well (RFC 9112, section 6.3)."""

import re

from sumi.fetch.headers import Fields, all_values
from sumi.outcomes import Outcome, Verdict

_VERSIONS = (b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2", b"HTTP/3")
# curl does not know a name with a blank behind it; others do.
_MISSPELLED = re.compile(rb"^(?:content-length|transfer-encoding)[ \t]+:", re.IGNORECASE | re.MULTILINE)
_BOTH = Verdict(Outcome.BAD_HTTP, "Content-Length together with Transfer-Encoding")
_CODED = Verdict(Outcome.BAD_ENCODING, "a transfer coding other than chunked")


def contradiction(head: list[bytes], fields: Fields, *, expects_body: bool) -> Verdict | None:
    """What is wrong with a complete head, the status line first; None for one with a single reading."""
    if head[0].split(None, 1)[0] not in _VERSIONS:
        return Verdict(Outcome.BAD_HTTP, "a status line of no version of HTTP")
    if len(head) > 1 and head[1][:1] in (b" ", b"\t"):
        return Verdict(Outcome.BAD_HTTP, "a header that continues none")
    if not expects_body:
        return None
    if _MISSPELLED.search(b"".join(head)):
        return Verdict(Outcome.BAD_HTTP, "a blank behind the name of a header that says where the body ends")
    codings = all_values(fields, "transfer-encoding")
    if not codings:
        return None
    if all_values(fields, "content-length"):
        return _BOTH
    return None if [coding.lower() for coding in codings] == ["chunked"] else _CODED
