"""The server: its sockets, its key, its start and end."""

import ipaddress
import os
import secrets
import socket
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

import msgspec
import uvicorn

from sumi.errors import UsageError
from sumi.serve.app import make_app
from sumi.serve.guard import Access
from sumi.serve.jobs import Jobs

_TOKEN_BYTES: Final = 32
_LEAST_TOKEN: Final = 32  # characters
_MOST_TOKEN: Final = 1024
_HIGHEST_PORT: Final = 65535


class Listening(msgspec.Struct, frozen=True, kw_only=True):
    port: int
    names: tuple[str, ...] = ()
    address: str | None = None  # beside this machine's own
    token_file: Path | None = None
    read_only: bool = False
    open_browser: bool = False
    watch_files: tuple[Path, ...] = ()


def serve(places: Sequence[Path], listening: Listening, out: TextIO) -> int:
    """Until Ctrl-C. Jobs that were started here go on."""
    if not 0 <= listening.port <= _HIGHEST_PORT:
        raise UsageError(f"--port is {listening.port}, but must be from 0 to {_HIGHEST_PORT}")
    if listening.address is not None and listening.token_file is None:
        raise UsageError("--listen opens the window to other machines, so it needs --token-file")
    token = _read_token(listening.token_file) if listening.token_file else secrets.token_urlsafe(_TOKEN_BYTES)
    sockets = _sockets(listening)
    port = sockets[0].getsockname()[1]
    names = listening.names if listening.address is None else (*listening.names, _in_url(listening.address))
    access = Access(token, port, tuple(name.lower() for name in names), listening.read_only)
    app = make_app(Jobs(_absolute(places), _absolute(listening.watch_files)), access)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,  # it would hold the key
        proxy_headers=False,
        server_header=False,
        ws="none",
        http="h11",
        timeout_graceful_shutdown=1,
    )
    _announce(listening, port, token, places, out)
    uvicorn.Server(config).run(sockets=sockets)
    return 0


def _absolute(paths: Sequence[Path]) -> list[Path]:
    return [Path(os.path.abspath(path)) for path in paths]


def _announce(listening: Listening, port: int, token: str, places: Sequence[Path], out: TextIO) -> None:
    where = ", ".join(str(place) for place in places)
    address = f"http://127.0.0.1:{port}/"
    url = address if listening.token_file else f"{address}?token={token}"
    out.write(f"Sumi shows {where} at\n\n  {url}\n\n")
    if listening.token_file:
        out.write(f"Add ?token= and what is in {listening.token_file} for the first visit.\n")
    if listening.address is not None:
        what = "read" if listening.read_only else "read everything, and start and stop jobs"
        out.write(
            f"Also at {_in_url(listening.address)}:{port}, unencrypted: whoever has the key can {what}. "
            "Put a proxy with TLS in front of it.\n"
        )
    out.write("Ctrl-C ends the window; jobs go on.\n")
    out.flush()
    if listening.open_browser:
        import webbrowser

        webbrowser.open(f"{address}?token={token}")


def _in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _sockets(listening: Listening) -> list[socket.socket]:
    first = _bound("127.0.0.1", listening.port)
    port = first.getsockname()[1]
    sockets = [first]
    with suppress(UsageError):  # a machine without IPv6
        sockets.append(_bound("::1", port))
    if listening.address is not None:
        try:
            ipaddress.ip_address(listening.address)
        except ValueError:
            raise UsageError(f"--listen is {listening.address!r}, but must be an IP address") from None
        sockets.append(_bound(listening.address, port))
    return sockets


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
        made.listen(128)
    except OSError as error:
        made.close()
        raise UsageError(
            f"port {port} of {address} cannot be used ({os.strerror(error.errno or 0)}): "
            "another window may be open; --port 0 takes any free port"
        ) from None
    return made


def _read_token(path: Path) -> str:
    try:
        if sys.platform != "win32" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise UsageError(f"{path} can be read by others: chmod 600 {path}")
        with path.open("rb") as file:
            token = file.read(_MOST_TOKEN + 1).strip().decode("ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--token-file {path} cannot be read: {error}") from None
    if not _LEAST_TOKEN <= len(token) <= _MOST_TOKEN or not _is_plain(token):
        raise UsageError(
            f"--token-file {path} must hold {_LEAST_TOKEN} to {_MOST_TOKEN} letters, digits, - or _"
        )
    return token


def _is_plain(token: str) -> bool:
    return all((character.isascii() and character.isalnum()) or character in "-_" for character in token)
