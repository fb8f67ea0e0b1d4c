"""URLs are read as browsers read them, and whatever is read has one lasting identity on a known host."""

import json
from pathlib import Path
from typing import Any

import ada_url
import pytest

from sumi.model import Candidate
from sumi.policy import Preset
from sumi.scope import Scope
from sumi.urls import normalize, split
from sumi.urls.whatwg import encoded, serialized
from tests.corpora import hostile_urls

CORPUS = Path(__file__).parents[1] / "corpora" / "wpt-urls.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in CORPUS.read_text().splitlines()]

# A name that can be looked up nowhere does no harm, and the parser takes these for one.
NAMES_READ_ALL_THE_SAME = {
    case["input"]
    for case in CASES
    if "failure" in case and ("--pokxncvks" in case["input"].lower() or "://xn--/" in case["input"])
}
# Not for DNS, or not for UTF-8: no request could be made, so there is nothing to identify.
NOT_REQUESTED = {"http://./", "http://../", "http://foo.09.."} | {
    case["input"] for case in CASES if any("\ud800" <= character <= "\udfff" for character in case["input"])
}
# Here ``^`` stands bare in a path: the standard escapes it since 2024, the corpus is older.
OLDER_ESCAPES = {
    case["input"] for case in CASES if "]^_`{|}~" in case["input"] and "://host/ " in case["input"]
}


def standard(case: dict[str, Any]) -> str | None:
    href: str | None = case.get("href")
    return href


def identity(case: dict[str, Any]) -> str:
    """The standard's own parts, without what no server is told (fragment) or should be (userinfo)."""
    return f"{case['protocol']}//{case['host']}{case['pathname']}{case['search']}"


def test_the_corpus_is_whole() -> None:
    assert len(CASES) == 835
    assert sum("failure" in case for case in CASES) == 272
    assert sum("host" in case for case in CASES) == 229
    assert len(NAMES_READ_ALL_THE_SAME) == 8
    assert len(NOT_REQUESTED) == 4
    assert len(OLDER_ESCAPES) == 2


def test_every_url_is_written_as_the_standard_writes_it() -> None:
    wrong = []
    for case in CASES:
        if case["input"] in NAMES_READ_ALL_THE_SAME | NOT_REQUESTED | OLDER_ESCAPES:
            continue
        base = None if case["base"] is None else encoded(case["base"])
        found = serialized(case["input"], base)
        if found != standard(case):
            wrong.append((case, found))
    assert wrong == []


def test_the_identity_is_made_of_the_standards_parts() -> None:
    requested = [case for case in CASES if "host" in case and case["input"] not in NOT_REQUESTED]
    wrong = [
        (case["input"], found)
        for case in requested
        if (found := normalize(case["input"], Preset.MIRROR, case["base"])) != identity(case)
    ]
    assert wrong == []


@pytest.mark.parametrize("preset", Preset)
def test_what_the_standard_refuses_or_is_not_http_has_no_identity(preset: Preset) -> None:
    refused = [case for case in CASES if "host" not in case and case["input"] not in NAMES_READ_ALL_THE_SAME]
    refused += [case for case in CASES if case["input"] in NOT_REQUESTED]
    taken = [case for case in refused if normalize(case["input"], preset, case["base"]) is not None]
    assert taken == []


def identities(preset: Preset) -> list[tuple[str, str]]:
    found = [(case["input"], normalize(case["input"], preset, case["base"])) for case in CASES]
    found += [(url, normalize(url, preset)) for url in hostile_urls.ALL]
    found += [(url, normalize(url, preset, "https://b.test/dir/page?q")) for url in hostile_urls.ALL]
    return [(url, known) for url, known in found if known is not None]


@pytest.mark.parametrize("preset", Preset)
def test_an_identity_is_its_own_identity_and_its_host_is_the_parsers(preset: Preset) -> None:
    known = identities(preset)
    assert len(known) > 300
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
