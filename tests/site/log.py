"""The server's own record of who asked for what and when: the evidence for politeness and thrift."""

import os
from pathlib import Path

import msgspec


class LoggedRequest(msgspec.Struct, frozen=True):
    monotonic: float  # seconds, when the request line had been read
    wall: float
    method: str
    path: str  # with the query
    host: str  # the Host header
    status: int  # 0: no status line was sent
    user_agent: str
    connection: int
    tls: bool


class RequestLog:
    """One JSON line a request, written in one piece before the answer leaves: no client is ahead of it."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._encoder = msgspec.json.Encoder()

    def write(self, request: LoggedRequest) -> None:
        os.write(self._file, self._encoder.encode(request) + b"\n")

    def close(self) -> None:
        os.close(self._file)


def read_log(path: Path) -> list[LoggedRequest]:
    complete = path.read_bytes().rpartition(b"\n")[0]
    return [msgspec.json.decode(line, type=LoggedRequest) for line in complete.splitlines()]
