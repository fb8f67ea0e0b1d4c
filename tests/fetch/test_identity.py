"""Signed requests verify by RFC 9421 and the Web Bot Auth draft, with what the sender publishes.

The verifier below is written from the RFC: it parses the structured fields, rebuilds the signature base from
the request as it arrived, and knows nothing of the signer.
"""

import base64
import json
import os
import re
import stat
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_der_private_key

from sumi.errors import UsageError
from sumi.fetch.identity import (
    RequestSigner,
    authority_of,
    check_agent,
    create_identity,
    directory_of,
    key_id_of,
    load_identity,
    signature_base,
)
from sumi.fetch.target import parse_target
from sumi.policy import Identity, Secret
from tests.commands import RunSumi
from tests.folder_site import folder_site

AGENT = "https://bot.example.org"
# RFC 9421, appendix B.1.4 and B.2.6.
RFC_KEY = "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF"
RFC_SIGNATURE = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
RFC_COVERED = (
    ('"date"', "Tue, 20 Apr 2021 02:07:55 GMT"),
    ('"@method"', "POST"),
    ('"@path"', "/foo"),
    ('"@authority"', "example.com"),
    ('"content-type"', "application/json"),
    ('"content-length"', "18"),
)
RFC_PARAMETERS = (
    '("date" "@method" "@path" "@authority" "content-type" "content-length")'
    ';created=1618884473;keyid="test-key-ed25519"'
)


def rfc_key() -> Ed25519PrivateKey:
    key = load_der_private_key(base64.b64decode(RFC_KEY), None)
    assert isinstance(key, Ed25519PrivateKey)
    return key


def test_the_signature_base_is_the_one_of_the_rfc() -> None:
    signature = rfc_key().sign(signature_base(RFC_COVERED, RFC_PARAMETERS))
    assert base64.b64encode(signature).decode() == RFC_SIGNATURE


def test_the_key_id_is_the_thumbprint_of_the_rfcs_key() -> None:
    assert (
        key_id_of(rfc_key().public_key().public_bytes_raw()) == "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
    )


# ── a verifier ─────────────────────────────────────────────────────────────────────────────────────────────

STRING, TOKEN = r'"((?:[^"\\]|\\["\\])*)"', r"[a-z*][a-z0-9_.*-]*"


class Signed(NamedTuple):
    label: str
    covered: list[tuple[str, dict[str, str]]]
    parameters: dict[str, str]
    raw: str  # the inner list with its parameters, as it was sent


def parse_parameters(text: str) -> dict[str, str]:
    found = re.findall(rf";({TOKEN})=(?:{STRING}|(-?\d+))", text)
    return {name: string or number for name, string, number in found}


def parse_signature_input(value: str) -> Signed:
    whole = re.fullmatch(rf"({TOKEN})=(\(([^)]*)\)(.*))", value)
    assert whole, value
    items = re.findall(rf"{STRING}((?:;{TOKEN}=(?:{STRING}|\d+))*)", whole[3])
    covered = [(name, parse_parameters(rest)) for name, rest, *_ in items]
    return Signed(whole[1], covered, parse_parameters(whole[4]), whole[2])


def component(name: str, wanted: dict[str, str], headers: dict[str, str], scheme: str) -> str:
    if name == "@authority":
        host = headers["host"].lower()
        return host.removesuffix({"http": ":80", "https": ":443"}[scheme])
    value = headers[name].strip()
    if "key" not in wanted:
        return value
    members: dict[str, str] = {
        name: string for name, string, _ in re.findall(rf"(?:^|,\s*)({TOKEN})=({STRING})", value)
    }
    return members[wanted["key"]]


def verify(headers: dict[str, str], directory: dict[str, Any], now: float, scheme: str = "http") -> None:
    """Raises if the request was not signed by a key of the directory."""
    signed = parse_signature_input(headers["signature-input"])
    assert signed.parameters["tag"] == "web-bot-auth"
    assert int(signed.parameters["created"]) <= now < int(signed.parameters["expires"])
    names = [name for name, _ in signed.covered]
    assert "@authority" in names
    assert "signature-agent" in names
    lines = []
    for name, wanted in signed.covered:
        identifier = f'"{name}"' + "".join(f';{key}="{value}"' for key, value in wanted.items())
        lines.append(f"{identifier}: {component(name, wanted, headers, scheme)}")
    base = "\n".join([*lines, f'"@signature-params": {signed.raw}']).encode()
    signature = re.fullmatch(rf"{signed.label}=:([A-Za-z0-9+/=]+):", headers["signature"])
    assert signature
    keys = {key["kid"]: key for key in directory["keys"]}
    key = keys[signed.parameters["keyid"]]
    assert (key["kty"], key["crv"]) == ("OKP", "Ed25519")
    public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key["x"] + "="))
    public.verify(base64.b64decode(signature[1]), base)


@pytest.fixture
def identity(tmp_path: Path) -> Identity:
    return create_identity(tmp_path / "keys" / "identity.json", AGENT)


def signed_headers(identity: Identity, url: str, now: float = 1_000_000.0) -> dict[str, str]:
    target = parse_target(url)
    assert target is not None
    fields = RequestSigner(identity).fields_for(target, now)
    return {name.lower(): value for name, value in fields} | {"host": authority_of(target)}


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("https://Docs.Example.org/a?b", "docs.example.org"),
        ("https://docs.example.org:8443/", "docs.example.org:8443"),
        ("http://docs.example.org:80/", "docs.example.org"),
        ("http://[::1]:8080/", "[::1]:8080"),
    ],
)
def test_what_is_signed_verifies_for_its_host(identity: Identity, url: str, authority: str) -> None:
    headers = signed_headers(identity, url)
    assert headers["host"] == authority
    verify(headers, json.loads(directory_of(identity)), 1_000_001.0)


def test_no_signature_serves_another_host_time_or_agent(identity: Identity) -> None:
    headers, directory = signed_headers(identity, "https://a.test/"), json.loads(directory_of(identity))
    with pytest.raises(InvalidSignature):
        verify({**headers, "host": "b.test"}, directory, 1_000_001.0)
    with pytest.raises(InvalidSignature):
        verify({**headers, "signature-agent": 'sumi="https://evil.test"'}, directory, 1_000_001.0)
    with pytest.raises(AssertionError):
        verify(headers, directory, 1_000_000.0 + 3600)
    assert (
        signed_headers(identity, "https://a.test/")["signature"] != headers["signature"]
    )  # its number differs


def test_requests_of_a_mirror_verify_and_the_key_is_nowhere(run_sumi: RunSumi, tmp_path: Path) -> None:
    home = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert run_sumi("identity", "create", AGENT, env=home).returncode == 0
    file = tmp_path / "config" / "sumi" / "identity.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    directory = json.loads(run_sumi("identity", "directory", env=home).stdout)
    with folder_site(tmp_path / "site") as site:
        site.write(
            "index.html", '<h1>Start</h1><p>Words enough for a page.</p><a href="other.html">other</a>'
        )
        site.write("other.html", "<h1>Other</h1><p>Words enough for another page.</p>")
        words = ("--sign", "--rate-limit", "0", "--warc", "all.warc.gz", "--log-file", "log", "-vv")
        done = run_sumi("mirror", site.url, "-o", "out", *words, env=home)
        assert done.returncode == 0, done.stderr
        received = list(site.received)
    assert len(received) >= 3
    for headers in received:
        created = int(parse_signature_input(headers["signature-input"]).parameters["created"])
        verify(headers, directory, created)
    secret = json.loads(file.read_bytes())["ed25519"].encode()
    shown = run_sumi("identity", "show", env=home)
    assert directory["keys"][0]["kid"] in shown.stdout
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path != file]
    assert not any(secret in content for content in [*written, shown.stdout.encode(), done.stderr.encode()])


def test_an_identity_is_never_replaced_nor_used_if_others_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "identity.json"
    create_identity(file, AGENT)
    with pytest.raises(UsageError, match="never replaced"):
        create_identity(file, AGENT)
    os.chmod(file, 0o640)
    with pytest.raises(UsageError, match="other users can read"):
        load_identity(file)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"agent": "https://a.test", "ed25519": "short"}', '{"agent": 1}']
)
def test_a_broken_file_is_one_sentence(tmp_path: Path, content: str) -> None:
    file = tmp_path / "identity.json"
    file.touch(0o600)
    file.write_text(content)
    with pytest.raises(UsageError):
        load_identity(file)


@pytest.mark.parametrize(
    "agent",
    ["http://a.test", "https://a.test/path", "https://me@a.test", 'https://a.test"', "bot", "https://"],
)
def test_an_agent_is_an_origin_over_https(agent: str) -> None:
    with pytest.raises(UsageError, match="not an origin"):
        check_agent(agent)


def test_secrets_stay_out_of_representations() -> None:
    assert "abc" not in repr(Identity(AGENT, Secret("abc")))
