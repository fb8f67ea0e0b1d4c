"""Whose certificates are believed: the system's authorities, and those of ``--ca-file`` beside them."""

import ssl
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pycurl

from sumi.errors import StorageFailed, UsageError


class Authorities:
    """Files of certificates, as curl wants to be told of them. Close it when nothing connects any more.

    curl takes one file, so the user's and the system's become one, made once and when first needed. Not bytes
    in memory, because only of a file does curl keep what it read from one connection to the next.
    """

    def __init__(self, ca_file: str | None) -> None:
        # The wheel's OpenSSL was built elsewhere: Python's knows where this system keeps its certificates.
        system = ssl.get_default_verify_paths()
        if ca_file is not None:
            _refuse_unless_certificates(ca_file)
        self._files = [file for file in (system.cafile, ca_file) if file is not None]
        self._folder = None if system.cafile else system.capath
        self._joined: Path | None = None

    def tell(self, handle: Any) -> None:
        handle.setopt(pycurl.SSL_VERIFYPEER, 1)
        handle.setopt(pycurl.SSL_VERIFYHOST, 2)
        if self._files:
            file = self._one_file()
            handle.setopt(pycurl.CAINFO, file)
            handle.setopt(pycurl.PROXY_CAINFO, file)
        if self._folder is not None:
            handle.setopt(pycurl.CAPATH, self._folder)
            handle.setopt(pycurl.PROXY_CAPATH, self._folder)

    def close(self) -> None:
        if self._joined is not None:
            with suppress(OSError):  # somebody tidied up before us
                self._joined.unlink()
            self._joined = None

    def _one_file(self) -> str:
        if len(self._files) == 1:
            return self._files[0]
        if self._joined is None:
            self._joined = _joined(self._files)
        return str(self._joined)


def _refuse_unless_certificates(ca_file: str) -> None:
    """Joined with others, a file without any would be passed over in silence."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=ca_file)
    except ssl.SSLError:
        raise UsageError(
            f"{ca_file} holds no certificates in PEM form; give another one as the CA file"
        ) from None
    except OSError as error:
        raise UsageError(f"cannot read the CA file {ca_file}: {error.strerror}") from error


def _joined(files: Sequence[str]) -> Path:
    try:
        with tempfile.NamedTemporaryFile(prefix="sumi-ca-", suffix=".pem", delete=False) as joined:
            for file in files:
                joined.write(Path(file).read_bytes() + b"\n")
        return Path(joined.name)
    except OSError as error:
        raise StorageFailed(
            f"cannot write the trusted certificates to {tempfile.gettempdir()}: {error.strerror}; "
            "name another folder in TMPDIR"
        ) from error
