"""What a user confides to one origin: it is sent there and nowhere else, and shown nowhere at all."""

import base64
from typing import NamedTuple, TypeAlias

from sumi.fetch.headers import Fields
from sumi.fetch.target import Target

Origin: TypeAlias = tuple[str, str, int]  # scheme, host, port


class Secret:
    """A text that does not end up in a log by way of a ``repr``."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


class Credential(NamedTuple):
    """A header field for one origin."""

    origin: Origin
    name: str
    value: Secret


def basic_auth(origin: Origin, user_and_password: str) -> Credential:
    encoded = base64.b64encode(user_and_password.encode()).decode("ascii")
    return Credential(origin, "Authorization", Secret(f"Basic {encoded}"))


class CredentialBook:
    def __init__(self, credentials: tuple[Credential, ...]) -> None:
        self._fields: dict[Origin, Fields] = {}
        for origin, name, value in credentials:
            self._fields[origin] = (*self._fields.get(origin, ()), (name, value.reveal()))

    def __bool__(self) -> bool:
        return bool(self._fields)

    def fields_for(self, target: Target) -> Fields:
        """Nothing as soon as scheme, host or port is another one."""
        return self._fields.get(target.origin, ())
