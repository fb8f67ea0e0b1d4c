"""URLs are read as browsers read them, and whatever is read has one lasting identity on a known host."""

from urllib.parse import urlsplit

import ada_url
import pytest

from sumi.model import Candidate
from sumi.policy import Preset
from sumi.scope import Scope
from sumi.urls import normalize, split
from sumi.urls.parts import encoded, serialized
from tests.corpora import hostile_urls
from tests.corpora.url_cases import CASES

WEB = ("http://", "https://")


def identity(href: str) -> str:
    """The standard's own parts, without what no server is told (fragment) or should be (userinfo)."""
    parts = urlsplit(href)
    host = parts.netloc.rpartition("@")[2].removesuffix(".")
    return f"{parts.scheme}://{host}{parts.path}" + (f"?{parts.query}" if parts.query else "")


def test_every_url_is_written_as_the_standard_writes_it() -> None:
    wrong = []
    for case in CASES:
        found = serialized(case.url, None if case.base is None else encoded(case.base))
        if found != case.href:
            wrong.append((case, found))
    assert wrong == []


def test_the_identity_is_made_of_the_standards_parts() -> None:
    wrong = [
        (case, found)
        for case in CASES
        if case.href is not None
        and case.href.startswith(WEB)
        and (found := normalize(case.url, Preset.MIRROR, case.base)) != identity(case.href)
    ]
    assert wrong == []


@pytest.mark.parametrize("preset", Preset)
def test_what_the_standard_refuses_or_is_not_http_has_no_identity(preset: Preset) -> None:
    refused = [case for case in CASES if case.href is None or not case.href.startswith(WEB)]
    assert len(refused) > 70
    assert [case for case in refused if normalize(case.url, preset, case.base) is not None] == []


@pytest.mark.parametrize(
    "url", ["http://./", "http://../", "http://a..test/", f"http://{'a' * 64}.test/", "http://a/\ud800"]
)
def test_what_no_name_server_or_request_can_hold_has_no_identity(url: str) -> None:
    assert normalize(url, Preset.MIRROR) is None


def identities(preset: Preset) -> list[tuple[str, str]]:
    found = [(case.url, normalize(case.url, preset, case.base)) for case in CASES]
    found += [(url, normalize(url, preset)) for url in hostile_urls.ALL]
    found += [(url, normalize(url, preset, "https://b.test/dir/page?q")) for url in hostile_urls.ALL]
    return [(url, known) for url, known in found if known is not None]


@pytest.mark.parametrize("preset", Preset)
def test_an_identity_is_its_own_identity_and_its_host_is_the_parsers(preset: Preset) -> None:
    known = identities(preset)
    assert len(known) > 280
    assert [(raw, url) for raw, url in known if normalize(url, preset) != url] == []
    assert [(raw, url) for raw, url in known if ada_url.URL(url).hostname != split(url).host] == []
    assert [raw for raw, url in known if not url.isascii() or not url.isprintable() or " " in url] == []


def test_hostile_urls_that_can_be_requested_are_requested_where_a_browser_would() -> None:
    for url in hostile_urls.ALL:
        known = normalize(url, Preset.MIRROR)
        if known is not None:
            assert split(known).host == ada_url.URL(url).hostname.removesuffix(".")
            assert len(known) <= 8192


@pytest.mark.parametrize("preset", Preset)
def test_scope_takes_only_the_hosts_and_folders_it_names(preset: Preset) -> None:
    scope = Scope(hosts=("a.test", "*.b.test"), paths=("/dir",))
    for raw, url in identities(preset):
        if scope.judge(Candidate(url)) is None:
            seen = ada_url.URL(url)
            assert seen.hostname in ("a.test", "b.test"), raw
            assert seen.pathname == "/dir" or seen.pathname.startswith("/dir/"), raw
