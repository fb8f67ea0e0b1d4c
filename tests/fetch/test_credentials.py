"""Credentials for one origin are never sent to another, and never shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.errors import UsageError
from sumi.fetch.headers import CredentialBook, basic_auth
from sumi.fetch.target import Target, parse_target
from sumi.jobs.mirror.recipe import mirror_job
from sumi.jobs.mirror.settings import MirrorSettings, load_settings
from sumi.policy import Credential, Secret

HOME = ("https", "docs.example.org", 443)
BOOK = CredentialBook((basic_auth(HOME, "me:secret"), Credential(HOME, "X-Key", Secret("abc"))))


def target(url: str) -> Target:
    found = parse_target(url)
    assert found is not None
    return found


def test_every_field_goes_to_its_origin() -> None:
    assert BOOK.fields_for(target("https://docs.example.org/a?b")) == (
        ("Authorization", "Basic bWU6c2VjcmV0"),
        ("X-Key", "abc"),
    )
    assert BOOK.fields_for(target("https://DOCS.example.org:443/")) != ()


@pytest.mark.parametrize(
    "url",
    [
        "http://docs.example.org/",
        "https://docs.example.org:8443/",
        "https://example.org/",
        "https://a.docs.example.org/",
        "https://docs.example.org.evil.example/",
        "https://evil.example/docs.example.org",
        "https://evil.example\\@docs.example.org/",
        "http://docs.example.org:443/",
    ],
)
def test_any_change_of_scheme_host_or_port_drops_them(url: str) -> None:
    assert BOOK.fields_for(target(url)) == ()


@given(
    st.sampled_from(["http", "https"]),
    st.from_regex(r"[a-z]{1,8}(\.[a-z]{1,8}){0,3}", fullmatch=True),
    st.integers(1, 65535),
)
def test_no_other_origin_ever_gets_any(scheme: str, host: str, port: int) -> None:
    assert BOOK.fields_for(Target(f"{scheme}://{host}:{port}/", host, port)) == ()


def load(**flags: str | list[str]) -> MirrorSettings:
    return load_settings({name.replace("_", "-"): value for name, value in flags.items()}, {})


def test_a_password_in_the_url_becomes_the_authentication_of_its_origin_and_leaves_the_url() -> None:
    settings = load(url="https://me:p%40ss@docs.example.org/guide/")
    assert (settings.url, settings.auth) == ("https://docs.example.org/guide/", "me:p@ss")
    (credential,) = mirror_job(settings).network.credentials
    assert credential == basic_auth(HOME, "me:p@ss")
    assert load(url="https://me:p@docs.example.org/", auth="other:word").auth == "other:word"
    assert load(url="https://token@docs.example.org/").auth == "token:"


def test_headers_are_for_the_sites_they_were_given_for() -> None:
    settings = load(
        url="https://docs.example.org/",
        header=["X-Key: abc"],
        header_for=["https://api.example.org:8443 X-Token: def", "cdn.example.org Accept-Language: en, de"],
    )
    assert mirror_job(settings).network.credentials == (
        Credential(HOME, "X-Key", Secret("abc")),
        Credential(("https", "api.example.org", 8443), "X-Token", Secret("def")),
        Credential(("https", "cdn.example.org", 443), "Accept-Language", Secret("en, de")),
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("auth", "hunter2"),
        ("auth", "me:hunter2\r\nX-Evil: 1"),
        ("header", "hunter2"),
        ("header", "X-Key: hunter2\r\nX-Evil: 1"),
        ("header", "X-Key: hunter2\0"),
        ("header", "X Key: hunter2"),
        ("header", "X-Key: hünter2"),
        ("header", "Host: hunter2"),
        ("header", "Transfer-Encoding: hunter2"),
        ("header", "User-Agent: hunter2"),
        ("header-for", "X-Key: hunter2"),
        ("header-for", "https://me:hunter2@api.example.org X-Key: a"),
        ("header-for", "https://api.example.org/path X-Key: hunter2"),
        ("header-for", "ftp://api.example.org X-Key: hunter2"),
        ("proxy", "me:hunter2@proxy.example:3128"),
        ("proxy", "socks4://me:hunter2@proxy.example:1080"),
        ("proxy", "http://me:hunter2@proxy.example"),
        ("proxy", "http://me:hunter2@proxy.example:70000"),
        ("proxy", "http://me:hunter2@proxy.example:3128/path"),
        ("url", "https://me:hunter2@"),
        ("url", "ftp://me:hunter2@example.org/"),
    ],
)
def test_a_secret_that_is_written_wrongly_is_refused_and_not_repeated(name: str, value: str) -> None:
    given_value = value if name in {"auth", "url"} else [value]
    with pytest.raises(UsageError) as refused:
        load_settings({"url": "https://docs.example.org/", name: given_value}, {})
    assert "hunter2" not in str(refused.value)
    assert "must" in str(refused.value)


def test_the_environment_is_a_place_for_a_password() -> None:
    assert load_settings({"url": "docs.example.org"}, {"SUMI_AUTH": "me:secret"}).auth == "me:secret"


def test_nothing_secret_is_in_the_repr_of_a_job() -> None:
    settings = load(
        url="https://me:hunter2@docs.example.org/",
        header=["X-Key: hunter2"],
        proxy=["http://me:hunter2@proxy.example:3128"],
    )
    assert "hunter2" not in repr(mirror_job(settings))
