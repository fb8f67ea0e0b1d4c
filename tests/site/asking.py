"""A plain client for tests of the site itself: it forgives nothing and follows nothing."""

import http.client
import socket
import ssl
from html.parser import HTMLParser

from tests.site import RunningSite


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.body = response.read()
        self.headers = {name.lower(): value for name, value in response.getheaders()}


def ask(
    running: RunningSite,
    path: str,
    *,
    host: str = "",
    tls: bool = False,
    headers: dict[str, str] | None = None,
) -> Answer:
    connection: http.client.HTTPConnection
    if tls:
        context = ssl.create_default_context(cafile=str(running.ca_file))
        connection = http.client.HTTPSConnection("127.0.0.1", running.tls_port, timeout=20, context=context)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
    try:
        connection.request("GET", path, headers=(headers or {}) | ({"Host": host} if host else {}))
        return Answer(connection.getresponse())
    finally:
        connection.close()


def converse(running: RunningSite, path: str, at_most: int = 65_536) -> bytes:
    """What comes back on a bare connection, until it ends, stops coming for a while, or is enough."""
    received = b""
    with socket.create_connection(("127.0.0.1", running.port), timeout=20) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        line.settimeout(0.1)
        try:
            while len(received) < at_most and (data := line.recv(65_536)):
                received += data
        except (TimeoutError, ConnectionResetError):
            pass
    return received


class Hrefs(HTMLParser):
    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]
