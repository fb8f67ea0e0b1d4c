"""Trusted certificate authorities: the system's, and those of ``--ca-file``."""

import os
import ssl
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import pycurl

from sumi.errors import StorageFailed, UsageError


class Authorities:
    """Certificate files for curl. Close it when nothing connects any more.

    curl takes one file, so the user's and the system's are joined once, when first needed. A file rather than
    bytes, because curl caches only what it read from a file from one connection to the next.
    """

    def __init__(self, ca_file: str | None) -> None:
        # The wheel's OpenSSL was built elsewhere: Python's knows where this system keeps its certificates.
        system = ssl.get_default_verify_paths()
        if ca_file is not None:
            _refuse_unless_certificates(ca_file)
        self._files = [file for file in (system.cafile, ca_file) if file is not None]
        self._folder = None if system.cafile else system.capath
        self._joined: IO[bytes] | None = None

    def apply(self, handle: Any) -> None:
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
            self._joined.close()
            self._joined = None

    def _one_file(self) -> str:
        if len(self._files) == 1:
            return self._files[0]
        if self._joined is None:
            self._joined = _joined(self._files)
        name = self._joined.name
        return name if isinstance(name, str) else f"/proc/self/fd/{name}"


def _refuse_unless_certificates(ca_file: str) -> None:
    """Joined with others, a file without certificates would be ignored silently."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=ca_file)
    except ssl.SSLError:
        raise UsageError(
            f"{ca_file} holds no certificates in PEM form; give another one as the CA file"
        ) from None
    except OSError as error:
        raise UsageError(f"cannot read the CA file {ca_file}: {error.strerror}") from error


def _joined(files: Sequence[str]) -> IO[bytes]:
    try:
        joined = _nameless_file()
        for file in files:
            joined.write(Path(file).read_bytes() + b"\n")
        joined.flush()
    except OSError as error:
        raise StorageFailed(
            f"cannot write the trusted certificates to {tempfile.gettempdir()}: {error.strerror}; "
            "name another folder in TMPDIR"
        ) from error
    return joined


def _nameless_file() -> IO[bytes]:
    """A file in memory, which goes with the process and to which no other program can write. Only on Linux;
    elsewhere a temporary file, which a kill leaves behind."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        return os.fdopen(os.memfd_create("sumi-ca"), "wb")
    return tempfile.NamedTemporaryFile(prefix="sumi-ca-", suffix=".pem")
