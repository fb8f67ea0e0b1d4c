"""What a run has of a browser in which a person has logged in: from a cookie file, or from a kept session."""

import shlex
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sumi.errors import UsageError, without_passwords
from sumi.fetch.cookie_file import BrowserCookie, cookie_header, read_cookie_file
from sumi.fetch.kept_session import hosts_of, session_file, session_name, usable_session
from sumi.fetch.target import parse_target
from sumi.policy import BrowserSession, Credential, Secret


def signed_in(
    cookie_file: str | None, login: str | None, sites: Sequence[str]
) -> tuple[tuple[Credential, ...], BrowserSession | None]:
    """Cookies for the very origins of the sites, and the session that they are of. Raises UsageError if there
    is none that can be used."""
    if login is not None:
        if cookie_file is not None:
            raise UsageError("give either a cookie file or a page to log in at, not both")
        return _kept(login, sites)
    if cookie_file is None:
        return (), None
    again = "log in again, write the cookie file anew, and run the same command with --update"
    return _cookies(read_cookie_file(Path(cookie_file)), sites, cookie_file), BrowserSession(again)


def _kept(login: str, sites: Sequence[str]) -> tuple[tuple[Credential, ...], BrowserSession]:
    name, session = session_name(login), usable_session(login, sites)
    opening = opening_command(login, sites)
    if isinstance(session, str):
        raise UsageError(f"{session}: {opening} opens a browser to log in with")
    origins = {"/".join(target.url.split("/", 3)[:3]) for target in filter(None, map(parse_target, sites))}
    storage = tuple(
        (origin, Secret(msgspec.json.encode(items).decode()))
        for origin, items in session.storage.items()
        if origin in origins
    )
    again = f"{opening}, then the same command with --update"
    source = f"the session {name}"
    cookies = _cookies(session.cookies, sites, source) if session.cookies or not storage else ()
    return cookies, BrowserSession(again, str(session_file(name)), storage)


def opening_command(login: str, sites: Sequence[str]) -> str:
    """What a person types to log in for these sites."""
    own = hosts_of([login])
    others = {host: site for site in sites for host in hosts_of([site]) if host not in own}
    return shlex.join(map(without_passwords, ("sumi", "session", "open", login, *others.values())))


def _cookies(cookies: Sequence[BrowserCookie], sites: Sequence[str], source: str) -> tuple[Credential, ...]:
    """Sites of which the browser has none are asked without, as long as it has some for one of them."""
    found: dict[tuple[str, str, int], str] = {}
    refusal: UsageError | None = None
    for target in filter(None, map(parse_target, sites)):
        try:
            found.setdefault(target.origin, cookie_header(cookies, target, time.time(), source))
        except UsageError as error:
            refusal = refusal or error
    if not found and refusal is not None:
        raise refusal
    return tuple(Credential(origin, "Cookie", Secret(text)) for origin, text in found.items())
