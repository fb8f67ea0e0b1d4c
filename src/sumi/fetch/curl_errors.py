"""What curl's error codes mean for a page."""

import os
import re

import pycurl

from sumi.fetch.curl_loop import Ending
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FetchLimits

# Codes that pycurl has no names for.
_HTTP2_STREAM = 92
_PROXY = 97
_TOO_LARGE = 100

_LOST = Outcome.CONNECTION_LOST
_BAD = Outcome.BAD_HTTP
_FIXED: dict[int, Verdict] = {
    pycurl.E_COULDNT_RESOLVE_HOST: Verdict(Outcome.DNS_FAILED, "the host name did not resolve"),
    pycurl.E_URL_MALFORMAT: Verdict(Outcome.BAD_URL, "not a valid host name"),
    pycurl.E_PARTIAL_FILE: Verdict(_LOST, "connection closed before the response was complete"),
    pycurl.E_GOT_NOTHING: Verdict(_LOST, "connection closed without a response"),
    pycurl.E_SEND_ERROR: Verdict(_LOST, "connection lost while sending the request"),
    pycurl.E_RECV_ERROR: Verdict(_LOST, "connection lost during the response"),
    pycurl.E_HTTP2: Verdict(_LOST, "the HTTP/2 connection broke"),
    _HTTP2_STREAM: Verdict(_LOST, "the HTTP/2 stream was reset"),
    pycurl.E_ABORTED_BY_CALLBACK: Verdict(_LOST, "stopped before the response was complete"),
    pycurl.E_UNSUPPORTED_PROTOCOL: Verdict(_BAD, "no HTTP status line"),
    pycurl.E_FTP_WEIRD_SERVER_REPLY: Verdict(_BAD, "malformed HTTP headers"),
    _TOO_LARGE: Verdict(_BAD, "a header that is too large"),
    pycurl.E_BAD_CONTENT_ENCODING: Verdict(Outcome.BAD_ENCODING, "unknown transfer coding"),
}
_TLS = frozenset(
    {
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_CRL_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
        pycurl.E_SSL_INVALIDCERTSTATUS,
    }
)
_TLS_PREFIX = re.compile(
    r"(?:SSL certificate problem|SSL|TLS connect error)?:? ?(?:error:[0-9A-F]+:[^:]*:[^:]*:)?"
)
# curl has one code for every trouble with a handshake. These are the network's, and transient.
_BROKEN_OFF = re.compile(
    r"(?:Recv|Send) failure|unexpected eof|SSL_ERROR_SYSCALL|reset by peer|broken pipe", re.IGNORECASE
)
_HANDSHAKE_LOST = Verdict(_LOST, "connection lost during the TLS handshake")
_UNPRINTABLE = re.compile(r"[^ -~]+")
_LONGEST_RULE = 200


_UNPROXIED = frozenset({pycurl.E_COULDNT_RESOLVE_PROXY, pycurl.E_COULDNT_CONNECT, _PROXY})
_PROXY_AUTHENTICATION = 407


def proxy_verdict(status: int, ending: Ending | None = None) -> Verdict | None:
    """The verdict on a proxy that failed; None if it did its part. ``status``: that of the proxy itself.

    A proxy that cannot reach the site (502, say) has done its part.
    """
    if status == _PROXY_AUTHENTICATION:
        return Verdict(Outcome.CONNECT_FAILED, "the proxy does not accept our credentials (407)")
    if status == 0 and ending is not None and ending.code in _UNPROXIED:
        return Verdict(Outcome.CONNECT_FAILED, "the proxy cannot be reached or refused to connect")
    return None


def verdict_for(ending: Ending, limits: FetchLimits, errno: int) -> Verdict:
    """The verdict on a transfer that curl gave up. ``errno``: the system's reason, if there is one."""
    code = ending.code
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return _timed_out(ending.words, limits)
    if "CONNECT tunnel failed" in ending.words:
        return Verdict(Outcome.CONNECT_FAILED, f"through the proxy: {_plain(ending.words)}")
    if code == pycurl.E_COULDNT_CONNECT:
        return Verdict(Outcome.CONNECT_FAILED, os.strerror(errno).lower() if errno else "nobody answered")
    if code == pycurl.E_SSL_CONNECT_ERROR and _BROKEN_OFF.search(ending.words):
        return _HANDSHAKE_LOST
    if code in _TLS:
        return Verdict(Outcome.TLS_FAILED, _plain(_TLS_PREFIX.sub("", ending.words, count=1)))
    if code == pycurl.E_RECV_ERROR and "chunk" in ending.words:
        return Verdict(Outcome.BAD_HTTP, "malformed chunks")
    return _FIXED.get(code) or Verdict(Outcome.CONNECTION_LOST, _plain(ending.words))


def _timed_out(words: str, limits: FetchLimits) -> Verdict:
    # Only the text tells: until the handshake is over, curl speaks of connecting or resolving.
    if words.startswith("Operation timed out"):
        return Verdict(Outcome.TIMED_OUT, f"not complete within {limits.total:g} s")
    return Verdict(Outcome.TIMED_OUT, f"no connection within {min(limits.connect, limits.total):g} s")


def _plain(words: str) -> str:
    """curl's messages may quote the server."""
    return _UNPRINTABLE.sub(" ", words).strip()[:_LONGEST_RULE] or "failed for an unknown reason"
