"""Flags win over the environment, that over the file; and all mistakes of a file are reported at once."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sumi.errors import ConfigError, UsageError
from sumi.jobs.mirror.settings import SETTINGS, MirrorSettings, load_settings

URL = "https://docs.example.org/"


def written(folder: Path, text: str) -> str:
    path = folder / "site.toml"
    path.write_text(text)
    return str(path)


def violations(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_settings({"url": URL}, {}, written(folder, text))
    return caught.value.violations


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    flag=st.none() | st.integers(1, 1024),
    variable=st.none() | st.integers(1, 1024),
    key=st.none() | st.integers(1, 1024),
)
def test_the_nearest_source_wins(
    tmp_path: Path, flag: int | None, variable: int | None, key: int | None
) -> None:
    config = written(tmp_path, "[mirror]\n" + (f"concurrency = {key}\n" if key is not None else ""))
    flags = {"concurrency": str(flag)} if flag is not None else {}
    environ = {"SUMI_CONCURRENCY": str(variable)} if variable is not None else {}
    nearest = next((given for given in (flag, variable, key) if given is not None), 16)
    assert load_settings({"url": URL, **flags}, environ, config).concurrency == nearest


@pytest.mark.parametrize("text", ["", "  ", "\t"])
def test_an_empty_variable_counts_as_not_set(text: str) -> None:
    assert load_settings({"url": URL}, {"SUMI_CONCURRENCY": text, "SUMI_HOSTS": text}, None) == load_settings(
        {"url": URL}, {}, None
    )


def test_a_switch_turned_on_far_away_can_be_turned_off_nearby(tmp_path: Path) -> None:
    config = written(tmp_path, "[mirror]\nfollow-links = true\nrespect-robots = false\n")
    assert load_settings({"url": URL, "follow-links": False}, {}, config).follow_links is False
    assert load_settings({"url": URL}, {"SUMI_RESPECT_ROBOTS": "yes"}, config).respect_robots is True
    assert load_settings({"url": URL}, {}, config).follow_links is True


def test_a_file_may_hold_everything(tmp_path: Path) -> None:
    config = written(
        tmp_path,
        """
        [mirror]
        url = "docs.example.org"
        rate-limit = 2
        timeout = 30.5
        max-body = "64MiB"
        exclude = ["/blog/*", "/search"]
        robots-on-error = "allow"
        fresh = true
        """,
    )
    result = load_settings({}, {}, config)
    assert result.url == URL
    assert (result.rate_limit, result.timeout, result.max_body) == (2.0, 30.5, 64 << 20)
    assert result.exclude == ("/blog/*", "/search")
    assert result.fresh


def test_a_size_may_be_a_plain_number_of_bytes(tmp_path: Path) -> None:
    config = written(tmp_path, "[mirror]\nmax-body = 4096\n")
    assert load_settings({"url": URL}, {}, config).max_body == 4096


def test_several_values_of_a_variable_are_separated_by_spaces() -> None:
    result = load_settings({"url": URL}, {"SUMI_EXCLUDE": "/a/* re:^/b{1,3}$", "SUMI_OUTPUT": ""})
    assert result.exclude == ("/a/*", "re:^/b{1,3}$")
    assert result.output == "output"


def test_headers_in_a_variable_are_separated_by_lines() -> None:
    one = load_settings({"url": URL}, {"SUMI_HEADER": "Accept-Language: en, de;q=0.5"})
    assert one.header == ("Accept-Language: en, de;q=0.5",)
    two = {"SUMI_HEADER": "X-One: a b\n\n X-Two: c \r\n", "SUMI_HEADER_FOR": "https://b.test X-Key: d e\n"}
    several = load_settings({"url": URL}, two)
    assert [header.strip() for header in several.header] == ["X-One: a b", "X-Two: c"]
    assert [header.strip() for header in several.header_for] == ["https://b.test X-Key: d e"]


def test_a_bad_variable_is_named() -> None:
    with pytest.raises(UsageError, match="SUMI_RETRIES is 'many', but must be a whole number of attempts"):
        load_settings({"url": URL}, {"SUMI_RETRIES": "many"})


def test_without_a_url_an_example_is_given() -> None:
    with pytest.raises(UsageError, match="no URL given; give one such as https://"):
        load_settings({}, {})


def test_all_mistakes_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    found = violations(
        tmp_path,
        """
        [crawl]
        [mirror]
        rate_limit = 1
        concurrency = "many"
        fresh = 1
        retries = true
        exclude = "/blog/*"
        include = ["/a", 7, "re:("]
        max-depth = 2024-01-01
        contact = 5
        """,
    )
    file = tmp_path / "site.toml"
    lines = [int(sentence.removeprefix(f"{file}, line ").partition(":")[0]) for sentence in found]
    assert lines == [2, 4, 5, 6, 7, 8, 9, 9, 10, 11]
    expected = [
        "[crawl] is not a section",
        "rate_limit is not a setting; did you mean rate-limit?",
        "concurrency is 'many', but must be a whole number of requests",
        "fresh is 1, but must be true or false",
        "retries is True, but must be a whole number of attempts",
        "exclude is '/blog/*', but must be a list",
        "include is 7, but must be",
        "include: Regular expression",
        "max-depth is",
        "contact is 5, but must be a web address or an e-mail address in quotes",
    ]
    assert len(found) == len(expected)
    for sentence, part in zip(found, expected, strict=True):
        assert part in sentence


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[mirror\n", "not valid TOML"),
        ("mirror = 3\n", "must be a section"),
        ("x = " + "[" * 5000, "not valid TOML"),
        ("x = " + "9" * 5000, "not valid TOML"),
        ("#" * (1024 * 1024 + 1), "larger than 1 MiB"),
    ],
)
def test_a_file_that_is_not_a_configuration_is_reported(tmp_path: Path, text: str, part: str) -> None:
    assert part in "".join(violations(tmp_path, text))


def test_a_binary_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not valid UTF-8"):
        load_settings({"url": URL}, {}, str(tmp_path / "site.toml"))


@pytest.mark.parametrize("name", ["missing.toml", ".", "a\0b"])
def test_an_unreadable_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"--config .* cannot be read"):
        load_settings({"url": URL}, {}, str(tmp_path / name))


def test_the_defaults_of_the_table_are_those_of_the_result() -> None:
    defaults = MirrorSettings(url=URL)
    for setting in SETTINGS:
        if setting.name != "url":
            assert setting.default == getattr(defaults, setting.field)
