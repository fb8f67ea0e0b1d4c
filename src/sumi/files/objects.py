"""Objects below an address: in the bucket of an S3-compatible store, or in a folder.

An object is written whole and never changed. Nothing relies on writes that are refused if the object exists:
stores differ in that. Credentials come from the environment or the profile that other programs use; an
address never holds any.
"""

import asyncio
import configparser
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from sumi.errors import StorageFailed, UsageError

if TYPE_CHECKING:
    from obstore.store import LocalStore, S3Store

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_IN_PROFILE: Final = {
    "aws_access_key_id": "access_key_id",
    "aws_secret_access_key": "secret_access_key",
    "aws_session_token": "session_token",
}
# By which a cluster gives its programs credentials that change; obstore finds them itself.
_GIVEN_BY: Final = (
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_MOST_WORDS: Final = 200  # of what a store says is wrong
_AT_ONCE: Final = 500
_WRITERS: Final = 8
# Codes of S3, and what to do.
_KNOWN: Final = {
    "NoSuchBucket": "there is no such bucket: make it, or correct its name",
    "InvalidAccessKeyId": "the store does not know the access key: see AWS_ACCESS_KEY_ID or AWS_PROFILE",
    "SignatureDoesNotMatch": "the secret key is wrong: see AWS_SECRET_ACCESS_KEY or AWS_PROFILE",
    "RequestTimeTooSkewed": "this machine's clock differs too much from the store's: set it by NTP",
    "AccessDenied": "these credentials may not do that: allow them to list, read, write and delete there",
    "ExpiredToken": "the credentials have expired: get new ones",
    "error sending request": "nobody answers there: see AWS_ENDPOINT_URL_S3, and whether the store is up",
}


class StoredObject(NamedTuple):
    name: str
    size: int
    modified: float


class Objects:
    """Opening asks nothing of the store: ``check`` does."""

    def __init__(self, address: str, environ: Mapping[str, str] | None = None) -> None:
        self.address = checked_address(address)
        try:
            import obstore
        except ImportError:
            raise UsageError("--store needs more packages: pip install 'sumi[cluster]'") from None
        self._obstore = obstore
        # A bucket that is not there is Python's FileNotFoundError.
        self._errors = (obstore.exceptions.BaseError, OSError)
        # Not by its asynchronous calls: threads of theirs that end after the interpreter's abort the process.
        self._writers = ThreadPoolExecutor(_WRITERS, thread_name_prefix="store")
        self._folder = folder_of(self.address)
        self._store = _opened(self.address, self._folder, os.environ if environ is None else environ)

    async def put(self, name: str, data: bytes) -> None:
        """Durable once it returns. In one request, so that no unfinished upload can stay behind."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writers, self._put, name, data)
        if self._folder is not None:
            await asyncio.to_thread(_make_durable, self._folder / name)

    def _put(self, name: str, data: bytes) -> None:
        try:
            self._obstore.put(self._store, name, data, use_multipart=False)
        except self._errors as error:
            raise self._failed("written", error) from None

    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes | None:
        """None if it is not there, or shorter."""
        errors = self._obstore.exceptions
        try:
            if length is None:
                return bytes(self._obstore.get(self._store, name).bytes())
            data = bytes(self._obstore.get_range(self._store, name, start=start, length=length))
        except (errors.NotFoundError, FileNotFoundError):
            return None
        except errors.BaseError as error:
            if self.size(name) is not None:
                return None  # what was asked for is beyond its end
            raise self._failed("read", error) from None
        return data if len(data) == length else None

    def size(self, name: str) -> int | None:
        """None if it is not there."""
        try:
            return int(self._obstore.head(self._store, name)["size"])
        except (self._obstore.exceptions.NotFoundError, FileNotFoundError):
            return None
        except self._obstore.exceptions.BaseError as error:
            raise self._failed("read", error) from None

    def list(self) -> Iterator[StoredObject]:
        try:
            for found in self._obstore.list(self._store, chunk_size=_AT_ONCE):
                for each in found:
                    yield StoredObject(each["path"], each["size"], each["last_modified"].timestamp())
        except self._errors as error:
            raise self._failed("listed", error) from None

    def delete(self, names: Iterable[str]) -> None:
        """Also if they are gone already."""
        for name in names:
            try:
                self._obstore.delete(self._store, name)
            except (self._obstore.exceptions.NotFoundError, FileNotFoundError):
                continue
            except self._errors as error:
                raise self._failed("removed", error) from None

    def check(self) -> None:
        """Raises StorageFailed unless the store answers, lets us in and has the bucket."""
        next(self.list(), None)

    def _failed(self, what: str, error: Exception) -> StorageFailed:
        for words, said in _KNOWN.items():
            if words in str(error):
                return StorageFailed(f"{self.address} cannot be {what}: {said}")
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no reason given"]
        # What was requested, and how often, comes before what went wrong.
        reason = lines[0].rpartition(" - ")[2].removeprefix("Generic S3 error: ")
        return StorageFailed(f"{self.address} cannot be {what}: {reason[:_MOST_WORDS]}")


def checked_address(address: str) -> str:
    """The address without a slash at its end. Raises UsageError."""
    try:
        parts = urlsplit(address)
        holds_more = bool(parts.username or parts.password or parts.query or parts.fragment)
    except ValueError:
        raise _not_an_address() from None
    if holds_more:
        raise UsageError(
            "the address of a store has no credentials and no parameters: put them into the environment "
            "(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or a profile (AWS_PROFILE)"
        )
    is_place = bool(parts.netloc) if parts.scheme == "s3" else parts.path.startswith("/") and not parts.netloc
    if parts.scheme not in ("s3", "file") or not is_place or ".." in unquote(parts.path).split("/"):
        raise _not_an_address()
    return address.rstrip("/")


def _not_an_address() -> UsageError:
    return UsageError("a store is given as s3://BUCKET/PREFIX, or file:///FOLDER for one on this machine")


def folder_of(address: str) -> Path | None:
    """Of a store on this machine."""
    parts = urlsplit(address)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def _opened(address: str, folder: Path | None, environ: Mapping[str, str]) -> "S3Store | LocalStore":
    from obstore.store import LocalStore, S3Store

    if folder is not None:
        try:
            return LocalStore(prefix=folder, mkdir=True)
        except OSError as error:
            raise UsageError(f"{folder} cannot be made: {error.strerror or error}") from None
    parts = urlsplit(address)
    settings: dict[str, Any] = _credentials(environ)
    endpoint, may_be_plain = _endpoint(environ)
    if endpoint:
        settings["endpoint"] = endpoint
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    settings["region"] = region or "us-east-1"
    return S3Store(
        parts.netloc,
        prefix=unquote(parts.path).strip("/") or None,
        client_options={"allow_http": may_be_plain, "timeout": timedelta(seconds=60)},
        # Whoever writes tries again until it is told to stop; whoever reads wants to know.
        retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=20)},
        **settings,
    )


def _endpoint(environ: Mapping[str, str]) -> tuple[str, bool]:
    """And whether it may be asked in plain text: on this machine, or if that was asked for."""
    endpoint = next((environ[name] for name in _ENDPOINTS if environ.get(name)), "")
    parts = urlsplit(endpoint)
    if parts.username or parts.password:
        raise UsageError("the endpoint of the store has credentials in it: put them into the environment")
    is_asked_for = environ.get("AWS_ALLOW_HTTP", "").lower() in ("1", "true", "yes")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK and not is_asked_for:
        raise UsageError(
            f"{endpoint} would send everything in plain text: use https://, or set AWS_ALLOW_HTTP=true "
            "for a network that you trust"
        )
    return endpoint, parts.scheme == "http"


def _credentials(environ: Mapping[str, str]) -> dict[str, str]:
    """Nobody is asked for any, as a metadata service would be: what is not configured is refused."""
    found = {ours: environ.get(name.upper(), "") for name, ours in _IN_PROFILE.items()}
    if not found["access_key_id"] and not any(environ.get(name) for name in _GIVEN_BY):
        found = _of_profile(environ)
    return {name: value for name, value in found.items() if value}


def _of_profile(environ: Mapping[str, str]) -> dict[str, str]:
    usual = Path(environ.get("HOME", "~")).expanduser() / ".aws" / "credentials"
    file = environ.get("AWS_SHARED_CREDENTIALS_FILE") or usual
    profiles = configparser.RawConfigParser()
    try:
        profiles.read(file, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError):
        raise UsageError(f"{file} cannot be read as a file of AWS profiles") from None
    profile = environ.get("AWS_PROFILE") or "default"
    if not profiles.has_section(profile):
        raise UsageError(
            f"no credentials for the store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a "
            f"profile of {file} in AWS_PROFILE; there is no profile {profile}"
        )
    return {ours: profiles[profile].get(name, "") for name, ours in _IN_PROFILE.items()}


def _make_durable(path: Path) -> None:
    """A file and its name."""
    for place in (path, path.parent):
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
