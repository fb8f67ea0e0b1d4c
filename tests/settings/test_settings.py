"""Every setting has one meaning wherever it is written, and a bad value is one sentence that names it."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi import __version__
from sumi.errors import UsageError
from sumi.jobs.mirror.settings import SETTINGS, MirrorSettings, load_settings
from sumi.policy import Durability, RobotsOnError
from sumi.settings.setting import GROUPS, Setting

URL = "https://docs.example.org/"
BY_NAME = {setting.name: setting for setting in SETTINGS}


def load(**flags: str | bool | list[str]) -> MirrorSettings:
    named = {name.replace("_", "-"): value for name, value in flags.items()}
    return load_settings({"url": URL, **named}, {})


def refusal(name: str, value: str) -> str:
    with pytest.raises(UsageError) as caught:
        load_settings({"url": URL, name: [value] if BY_NAME[name].kind.many else value}, {})
    return str(caught.value)


def test_the_table_and_the_result_name_the_same_settings() -> None:
    assert sorted(setting.field for setting in SETTINGS) == sorted(MirrorSettings.__struct_fields__)
    assert {setting.group for setting in SETTINGS} == set(GROUPS)


def test_nothing_given_gives_the_polite_defaults() -> None:
    settings = load()
    assert settings == MirrorSettings(url=URL)
    assert settings.page_rate == 1.0
    assert settings.requests_per_host == 1
    assert settings.respect_robots
    assert not settings.allow_private


def test_every_setting_can_be_typed() -> None:
    settings = load(
        output="mirror",
        fresh=True,
        durability="strict",
        processes="2",
        follow_links=True,
        include=["/docs/*"],
        exclude=["re:^/docs/old"],
        hosts=["*.Example.ORG"],
        loose_paths=True,
        max_pages="0",
        max_depth="3",
        rate_limit="0.5",
        content_rate_limit="2",
        concurrency="8",
        per_host="2",
        respect_robots=False,
        robots_on_error="deny",
        user_agent="mybot/1.0",
        contact="me@example.org",
        timeout="30",
        max_body="1MiB",
        retries="0",
        allow_private=True,
        resolve=["docs.example.org:443:192.0.2.7"],
        ca_file=__file__,
    )
    assert settings == MirrorSettings(
        url=URL,
        output="mirror",
        fresh=True,
        durability=Durability.STRICT,
        processes=2,
        follow_links=True,
        include=("/docs/*",),
        exclude=("re:^/docs/old",),
        hosts=("*.example.org",),
        loose_paths=True,
        max_pages=0,
        max_depth=3,
        rate_limit=0.5,
        content_rate_limit=2.0,
        concurrency=8,
        per_host=2,
        respect_robots=False,
        robots_on_error=RobotsOnError.DENY,
        user_agent="mybot/1.0",
        contact="me@example.org",
        timeout=30.0,
        max_body=1024 * 1024,
        retries=0,
        allow_private=True,
        resolve=("docs.example.org:443:192.0.2.7",),
        ca_file=__file__,
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("https://docs.example.org", "https://docs.example.org/"),
        ("docs.example.org", "https://docs.example.org/"),
        ("docs.example.org/guide?a=b://c", "https://docs.example.org/guide?a=b://c"),
        ("localhost:8080", "https://localhost:8080/"),
        ("[::1]:8080/x", "https://[::1]:8080/x"),
        ("HTTP://Example.org:80/a#b", "http://example.org/a"),
        ("  https://example.org/  ", "https://example.org/"),
    ],
)
def test_the_url_may_be_typed_as_people_type_urls(typed: str, meant: str) -> None:
    assert load_settings({"url": typed}, {}).url == meant


@pytest.mark.parametrize(
    "typed", ["", " ", "mailto:me@example.org", "ftp://example.org/", "https://", "a b", "/x"]
)
def test_what_is_not_a_web_address_is_refused(typed: str) -> None:
    assert "must be an http or https address" in refusal("url", typed)


@pytest.mark.parametrize(
    ("typed", "octets"),
    [("1024", 1024), ("32MiB", 32 << 20), ("1.5 mib", 3 << 19), ("2kb", 2000), ("1GiB", 1 << 30)],
)
def test_sizes_take_the_usual_units(typed: str, octets: int) -> None:
    assert load(max_body=typed).max_body == octets


@pytest.mark.parametrize(
    ("typed", "pinned"),
    [
        ("Example.org:443:192.0.2.7", ("example.org", 443, "192.0.2.7")),
        ("example.org:8443:[2001:DB8::7]", ("example.org", 8443, "2001:db8::7")),
        ("bücher.example:80:127.0.0.1", ("xn--bcher-kva.example", 80, "127.0.0.1")),
    ],
)
def test_addresses_are_pinned_as_curl_writes_them(typed: str, pinned: tuple[str, int, str]) -> None:
    settings = load(resolve=[typed])
    assert settings.pinned_addresses == (pinned,)
    assert load(resolve=list(settings.resolve)) == settings


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("rate-limit", "fast"),
        ("rate-limit", "-1"),
        ("rate-limit", "nan"),
        ("rate-limit", "inf"),
        ("rate-limit", "1e-9"),
        ("concurrency", "0"),
        ("concurrency", "1.5"),
        ("max-pages", "9" * 5000),
        ("max-body", "3TB"),
        ("max-body", "MiB"),
        ("max-body", "0"),
        ("timeout", "0"),
        ("durability", "eternal"),
        ("robots-on-error", ""),
        ("contact", "nobody"),
        ("contact", "me@example.org\r\nX-Evil: 1"),
        ("user-agent", "evil\r\nX-Evil: 1"),
        ("user-agent", "1bot"),
        ("hosts", "example.org/path"),
        ("hosts", "*"),
        ("include", "re:("),
        ("include", ""),
        ("resolve", "example.org:443"),
        ("resolve", "example.org:0:192.0.2.7"),
        ("resolve", "example.org:65536:192.0.2.7"),
        ("resolve", "example.org:443:2001:db8::7"),
        ("resolve", "example.org:443:[192.0.2.7]"),
        ("resolve", "*:443:192.0.2.7"),
        ("proxy", "http://proxy.example"),
        ("proxy", "http://proxy.example:0"),
        ("proxy", "http://proxy.example:65536"),
        ("proxy", "ftp://proxy.example:21"),
        ("ca-file", "/nonexistent/ca.pem"),
        ("output", ""),
        ("output", "a\0b"),
    ],
)
def test_a_bad_value_is_refused_in_one_line_that_names_the_flag(name: str, typed: str) -> None:
    sentence = refusal(name, typed)
    assert sentence.startswith(f"--{name}")
    assert len(sentence) < 300


@given(setting=st.sampled_from(SETTINGS), typed=st.text())
def test_no_text_does_worse_than_a_sentence(setting: Setting, typed: str) -> None:
    with suppress(UsageError):
        load_settings({"url": URL, setting.name: [typed] if setting.kind.many else typed}, {})


@pytest.mark.parametrize(
    ("settings", "at_once"),
    [
        (MirrorSettings(url=URL, rate_limit=1.0), 1),
        (MirrorSettings(url=URL, rate_limit=0, content_rate_limit=2.0), 1),
        (MirrorSettings(url=URL, rate_limit=0, concurrency=7), 7),
        (MirrorSettings(url=URL, rate_limit=1.0, per_host=3), 3),
    ],
)
def test_a_rate_limit_means_one_request_at_a_time(settings: MirrorSettings, at_once: int) -> None:
    assert settings.requests_per_host == at_once


@pytest.mark.parametrize(
    ("user_agent", "contact", "agent"),
    [
        (None, None, f"sumi/{__version__} (+https://pypi.org/project/sumi/)"),
        (None, "me@example.org", f"sumi/{__version__} (+https://pypi.org/project/sumi/; me@example.org)"),
        (None, "https://example.org/bot", f"sumi/{__version__} (+https://example.org/bot)"),
        ("mybot/1.0 (hello)", None, "mybot/1.0 (hello)"),
        ("mybot/1.0", "https://example.org/bot", "mybot/1.0 (+https://example.org/bot)"),
    ],
)
def test_the_agent_string_has_a_contact(user_agent: str | None, contact: str | None, agent: str) -> None:
    assert MirrorSettings(url=URL, user_agent=user_agent, contact=contact).agent == agent


def test_settings_survive_being_stored() -> None:
    settings = load(resolve=["example.org:443:[2001:db8::7]"], include=["/a/*"])
    assert msgspec.json.decode(msgspec.json.encode(settings), type=MirrorSettings) == settings
