"""What the proxy shows the browser when it speaks for a site over TLS.

The proxy ends the browser's TLS itself: so a custom authority, a proxy further on and the rules about headers
hold for what scripts ask for, too, and the certificates of sites are checked by the one client that always
does it. The browser is told to believe one key, which is made anew for every run, exists in this process only
and never leaves it. It believes nobody else more than it would otherwise, and reaches nobody else.
"""

import base64
import hashlib
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID

_LASTS = timedelta(days=365)


class Identity(NamedTuple):
    context: ssl.SSLContext  # for the server's side
    key_hash: str  # by which the browser knows it: SHA-256 of the public key, in Base64


def new_identity() -> Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sumi")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, public, x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _LASTS)
        .sign(key, hashes.SHA256())
    )
    private_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    known_by = hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    context = _context(private_pem + certificate.public_bytes(Encoding.PEM))
    return Identity(context, base64.b64encode(known_by).decode("ascii"))


def _context(pem: bytes) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as file:  # OpenSSL takes a key from a file only; others cannot read it
        file.write(pem)
        file.flush()
        context.load_cert_chain(file.name)
    context.set_alpn_protocols(["http/1.1"])
    return context
