"""Scopes from what users write: everything is checked here, once, with a sentence for each mistake."""

from collections.abc import Iterable
from typing import Final

from sumi.errors import UsageError
from sumi.policy import Preset
from sumi.scope.hosts import canonical_host_pattern, is_address
from sumi.scope.patterns import path_pattern, url_pattern
from sumi.scope.profiles import ProfileName
from sumi.scope.scope import Scope
from sumi.urls import host_key, normalize, split
from sumi.urls.escapes import tidy_escapes

_WWW: Final = "www."


def build_scope(
    *,
    hosts: Iterable[str] = (),
    paths: Iterable[str] = (),
    loose_paths: bool = False,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    allow: Iterable[str] = (),
    deny: Iterable[str] = (),
    max_depth: int | None = None,
    denied_hosts: Iterable[str] = (),
    profile: ProfileName | None = None,
) -> Scope:
    """A scope whose every pattern is known to work; UsageError names the first that does not."""
    if max_depth is not None and max_depth < 0:
        raise UsageError(f"The depth limit must not be negative, but is {max_depth}.")
    return Scope(
        hosts=tuple(canonical_host_pattern(host) for host in hosts),
        paths=tuple(_canonical_prefix(path) for path in paths),
        loose_paths=loose_paths,
        include=_path_patterns(include),
        exclude=_path_patterns(exclude),
        allow=_url_patterns(allow),
        deny=_url_patterns(deny),
        max_depth=max_depth,
        denied_hosts=tuple(canonical_host_pattern(host) for host in denied_hosts),
        profile=profile,
    )


def default_scope_for(
    seed_url: str,
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    max_depth: int | None = None,
) -> Scope:
    """The whole site of a seed: see ``default_hosts_for``."""
    return build_scope(
        hosts=default_hosts_for(seed_url), include=include, exclude=exclude, max_depth=max_depth
    )


def default_hosts_for(seed_url: str) -> tuple[str, ...]:
    """The seed's host, with its port if that is not the scheme's own, and its twin with or without www."""
    url = normalize(seed_url, Preset.MIRROR)
    if url is None:
        raise UsageError(f"{seed_url!r} is not an http or https URL.")
    own = host_key(url)
    twin = own.removeprefix(_WWW) if own.startswith(_WWW) else _WWW + own
    return (own, twin) if _may_have_twin(split(url).host) else (own,)


def _may_have_twin(host: str) -> bool:
    """Names of a registered domain do; addresses, ``localhost`` and ``www.com`` do not."""
    return "." in host.removeprefix(_WWW) and not is_address(host)


def _canonical_prefix(text: str) -> str:
    url = normalize("http://host" + text, Preset.MIRROR) if text.startswith("/") else None
    if url is None or "?" in text or "#" in text:
        raise UsageError(f"Path prefix {text!r} is not a path such as /docs.")
    return tidy_escapes(split(url).path)


def _path_patterns(texts: Iterable[str]) -> tuple[str, ...]:
    checked = tuple(texts)
    for text in checked:
        path_pattern(text)
    return checked


def _url_patterns(texts: Iterable[str]) -> tuple[str, ...]:
    checked = tuple(texts)
    for text in checked:
        url_pattern(text)
    return checked
