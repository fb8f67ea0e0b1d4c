"""What is asked and what is answered: requests as handlers see them, and answers down to the single byte."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias
from urllib.parse import parse_qs

HTML = "text/html; charset=utf-8"
PHRASES = {status.value: status.phrase for status in HTTPStatus}


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    target: str  # as it stood in the request line
    headers: dict[str, str]  # names in lower case
    tls: bool = False
    earlier: int = 0  # requests for the same misbehaviour before this one
    number: int | None = None  # the N of a route called ``name-N``
    rest: str = ""  # what follows the route's name

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.target.partition("?")[2]).items()}

    @property
    def host(self) -> str:
        return self.headers.get("host", "")

    @property
    def origin(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host or 'localhost'}"

    def number_or(self, default: int) -> int:
        return default if self.number is None else self.number


@dataclass(frozen=True, slots=True)
class Reply:
    """A well-formed answer."""

    status: int = 200
    body: bytes = b""
    content_type: str | None = HTML
    headers: tuple[tuple[str, str], ...] = ()

    def encode(self, method: str = "GET") -> bytes:
        bodiless = method == "HEAD" or self.status in (204, 304)
        return self.head() + (b"" if bodiless else self.body)

    def head(self) -> bytes:
        fields = list(self.headers)
        if self.content_type is not None:
            fields.append(("Content-Type", self.content_type))
        if self.status not in (204, 304):
            fields.append(("Content-Length", str(len(self.body))))
        return head(self.status, fields)


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


class Stall:
    """Say nothing more, and hold the line for as long as the other side does."""


class Reset:
    """Drop the connection with a TCP reset."""


Step: TypeAlias = bytes | Pause | Stall | Reset
# A script is played on the bare connection, which is closed at its end.
Script: TypeAlias = Iterator[Step]
Handler: TypeAlias = Callable[[Asked], Reply | Script]


def head(status: int, fields: list[tuple[str, str]]) -> bytes:
    """A status line and header; values may hold any byte, as Latin-1."""
    lines = [f"HTTP/1.1 {status} {PHRASES.get(status, 'Unheard Of')}"]
    lines += [f"{name}: {value}" for name, value in fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def page(title: str, content: str = "<p>A page like any other.</p>", extra_head: str = "") -> bytes:
    """A small page; ``content`` and ``extra_head`` are HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title>{extra_head}</head>\n"
        f"<body><main><h1>{title}</h1>{content}</main></body></html>\n"
    ).encode()


def table(*handlers: Handler) -> dict[str, Handler]:
    """Routes by the names of their functions."""
    return {handler.__name__.replace("_", "-"): handler for handler in handlers}
