"""Requests that prove who sent them: Web Bot Auth, which is HTTP Message Signatures (RFC 9421) with an
Ed25519 key whose public half the sender publishes (draft-ietf-webbotauth-httpsig-protocol-01).

A signature covers the host asked and the address of the sender's directory, for a few minutes and with a
number used once. It does not cover path or content: it says who asks, not what.
"""

import base64
import json
import os
import re
import secrets
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from sumi.errors import NotWritable, UsageError
from sumi.fetch.headers import Fields
from sumi.fetch.target import Target
from sumi.policy import Identity, Secret

DIRECTORY_PATH: Final = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE: Final = "application/http-message-signatures-directory+json"

# Long enough for a request that waits for a connection, and for clocks that differ by a minute or two.
_SECONDS_VALID = 300
_LABEL = "sumi"
_TAG = "web-bot-auth"
_PRIVATE = 0o600
_DEFAULT_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(r"[!#-\[\]-~]+")  # no quotes, backslashes, blanks
_SEED = re.compile(r"[A-Za-z0-9_-]{43}\Z")

Sign: TypeAlias = Callable[[bytes], bytes]


class RequestSigner:
    """The header fields that sign a request to a host."""

    def __init__(self, identity: Identity) -> None:
        key = _private_key(identity.seed)
        self._sign: Sign = key.sign
        self._key_id = key_id_of(_public_bytes(key))
        self._agent = f'"{identity.agent}"'  # a string of a structured field; check_agent allows no quotes

    def fields_for(self, target: Target, now: float) -> Fields:
        covered = (
            ('"@authority"', authority_of(target)),
            (f'"signature-agent";key="{_LABEL}"', self._agent),
        )
        created = int(now)
        nonce = base64.b64encode(secrets.token_bytes(32)).decode("ascii")
        parameters = (
            f";created={created};expires={created + _SECONDS_VALID}"
            f';keyid="{self._key_id}";alg="ed25519";nonce="{nonce}";tag="{_TAG}"'
        )
        signed = f"({' '.join(name for name, _ in covered)}){parameters}"
        signature = base64.b64encode(self._sign(signature_base(covered, signed))).decode("ascii")
        return (
            ("Signature-Agent", f"{_LABEL}={self._agent}"),
            ("Signature-Input", f"{_LABEL}={signed}"),
            ("Signature", f"{_LABEL}=:{signature}:"),
        )


def signature_base(covered: Sequence[tuple[str, str]], parameters: str) -> bytes:
    """What is signed (RFC 9421, section 2.5): a line for each component, then the parameters."""
    lines = [f"{name}: {value}" for name, value in covered]
    return "\n".join([*lines, f'"@signature-params": {parameters}']).encode("ascii")


def authority_of(target: Target) -> str:
    """The host as RFC 9421 has it: in lower case, without the usual port."""
    scheme, host, port = target.origin
    name = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return name.lower() if _DEFAULT_PORTS[scheme] == port else f"{name.lower()}:{port}"


# ── the key, its file and its directory ────────────────────────────────────────────────────────────────────


def default_file(environment: dict[str, str] | None = None) -> Path:
    given = os.environ if environment is None else environment
    return Path(given.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "sumi" / "identity.json"


def create_identity(file: Path, agent: str) -> Identity:
    """A new key in a file that only its owner can read. Never replaces one: its signatures would be lost."""
    check_agent(agent)
    identity = Identity(agent, Secret(_encoded(secrets.token_bytes(32))))
    _private_key(identity.seed)  # says so if the library is missing, before a file is written
    content = json.dumps({"agent": agent, "ed25519": identity.seed.reveal()}) + "\n"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWritable(f"cannot make the folder {file.parent}: {error.strerror}") from error
    try:
        descriptor = os.open(
            file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _PRIVATE
        )
    except FileExistsError:
        raise UsageError(
            f"{file} exists: an identity is never replaced; remove it, or use --identity"
        ) from None
    except OSError as error:
        raise NotWritable(f"cannot write {file}: {error.strerror}") from error
    with os.fdopen(descriptor, "w") as stream:
        os.fchmod(stream.fileno(), _PRIVATE)
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    return identity


def identity_of(*, sign: bool, file: str | None) -> Identity | None:
    """As settings say; None if requests are not to be signed."""
    return load_identity(Path(file) if file else default_file()) if sign else None


def load_identity(file: Path) -> Identity:
    try:
        status = file.stat()
        content = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"{file} is missing: sumi identity create makes one") from None
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except ValueError:
        raise UsageError(f"{file} is not an identity of Sumi") from None
    if status.st_mode & 0o077:
        raise UsageError(f"other users can read {file}: chmod 600 it, or make a new identity")
    if not isinstance(content, dict) or not isinstance(agent := content.get("agent"), str):
        raise UsageError(f"{file} is not an identity of Sumi")
    seed = content.get("ed25519")
    if not isinstance(seed, str) or not _SEED.match(seed):
        raise UsageError(f"{file} has no key of 32 bytes")
    check_agent(agent)
    return Identity(agent, Secret(seed))


def check_agent(agent: str) -> None:
    """Where the directory is published: an origin over https, so that others can trust what they read."""
    parts = urlsplit(agent)
    more = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme != "https" or not parts.hostname or more or not _PLAIN.fullmatch(agent):
        raise UsageError(f"{agent!r} is not an origin such as https://bot.example.org")


def key_id_of(public: bytes) -> str:
    """The thumbprint of the public key (RFC 7638)."""
    canonical = json.dumps(_jwk(public), separators=(",", ":"), sort_keys=True).encode("ascii")
    return _encoded(sha256(canonical).digest())


def directory_of(identity: Identity) -> str:
    """The file to publish at ``DIRECTORY_PATH`` of the agent."""
    public = _public_bytes(_private_key(identity.seed))
    key = {**_jwk(public), "kid": key_id_of(public), "use": "sig"}
    return json.dumps({"keys": [key], "purpose": "crawler"}, indent=2) + "\n"


def public_key_id(identity: Identity) -> str:
    return key_id_of(_public_bytes(_private_key(identity.seed)))


def _jwk(public: bytes) -> dict[str, str]:
    return {"crv": "Ed25519", "kty": "OKP", "x": _encoded(public)}


def _private_key(seed: Secret) -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise UsageError("signing needs a library: pip install 'sumi[sign]'") from None
    return Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(seed.reveal() + "="))


def _public_bytes(key: Any) -> bytes:
    return bytes(key.public_key().public_bytes_raw())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
