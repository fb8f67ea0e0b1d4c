"""What a user confides to one origin: it is sent there and nowhere else, and shown nowhere at all."""

import base64

from sumi.fetch.headers import Fields
from sumi.fetch.target import Origin, Target
from sumi.policy import Credential, Secret


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
