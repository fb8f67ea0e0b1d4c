"""What the headers of a response say about its connection."""

import pytest

from sumi.fetch.budget import BodyBudget
from sumi.fetch.incoming import Incoming
from sumi.policy import FetchLimits


@pytest.mark.parametrize(
    ("head", "ends"),
    [
        (["HTTP/1.1 200 OK"], False),
        (["HTTP/1.1 200 OK", "Connection: Close"], True),
        (["HTTP/1.0 200 OK"], True),
        (["HTTP/1.0 200 OK", "Connection: Keep-Alive"], False),
    ],
)
def test_whether_the_server_ends_the_connection(head: list[str], ends: bool) -> None:
    incoming = Incoming(FetchLimits(), None, BodyBudget(1).claim(), lambda: None, wants_body=True)
    for line in [*head, ""]:
        assert incoming.on_header(f"{line}\r\n".encode()) is None
    assert incoming.ends_connection is ends
