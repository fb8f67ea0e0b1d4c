"""A window as tests open it: a process, its address and key, and requests over a bare socket."""

import json
import re
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.commands import SpawnedSumi, SpawnSumi, wait_until

_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)")


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class OpenWindow(NamedTuple):
    process: SpawnedSumi
    port: int
    token: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, target: str, method: str = "GET", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        """As it is written: no client adds, checks or escapes anything."""
        given = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"} | dict(headers or {})
        if body and "Transfer-Encoding" not in given:
            given.setdefault("Content-Length", str(len(body)))
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
            data = b""
            while some := connection.recv(65536):
                data += some
        return _parsed(data)

    def cookie(self) -> str:
        """What a first visit trades the key for."""
        return self.ask(f"/?token={self.token}").headers["set-cookie"].partition(";")[0]

    def get(self, target: str) -> Answer:
        return self.ask(target, headers={"Cookie": self.cookie()})

    def post(self, target: str, values: object = None, **headers: str) -> Answer:
        """As the page does it."""
        secret = self.get("/api/session").json["csrf"]
        usual = {
            "Cookie": self.cookie(),
            "Origin": self.url,
            "Content-Type": "application/json",
            "X-Sumi-CSRF": secret,
        }
        return self.ask(target, "POST", usual | headers, json.dumps(values or {}).encode())

    def jobs(self) -> list[dict[str, Any]]:
        """Once every job has been read."""
        for job in self.get("/api/jobs").json:
            self.get(f"/api/jobs/{job['id']}")  # waits for it
        return list(self.get("/api/jobs").json)


def _parsed(data: bytes) -> Answer:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    if headers.get("transfer-encoding") == "chunked":
        body = _joined(body)
    return Answer(int(first.split()[1]), headers, body)


def _joined(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        whole, body = whole + rest[:length], rest[length + 2 :]
        if not length:
            break
    return whole


def opened(spawn: SpawnSumi, *arguments: str, env: dict[str, str] | None = None) -> OpenWindow:
    process = spawn("serve", *arguments, "--port", "0", env=env)
    wait_until(process, lambda: _ADDRESS.search(process.stderr.read_text()) is not None)
    found = _ADDRESS.search(process.stderr.read_text())
    assert found is not None
    return OpenWindow(process, int(found[1]), found[2])
