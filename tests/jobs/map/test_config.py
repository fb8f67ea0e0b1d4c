"""A map's configuration is valid, or refused with every mistake in it, each by file and key."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.errors import ConfigError, UsageError
from sumi.jobs.map.config import MapConfig, load_map_config
from sumi.jobs.map.recipe import map_job
from sumi.policy import RenderMode, RobotsOnError

ROOT = Path(__file__).parents[3]

LEAST = """
[user-agent]
crawler-name = "Mapper"
[[quality]]
domain = "example.com"
seeds = ["https://example.com/"]
"""


def load(folder: Path, text: str) -> MapConfig:
    path = folder / "web.toml"
    path.write_text(text)
    return load_map_config(path)


def violations(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    return caught.value.violations


def test_the_example_is_a_valid_configuration() -> None:
    config = load_map_config(ROOT / "examples" / "map.toml")
    assert config.user_agent.header == (
        "ExampleMapper/1.0 (+https://example.com/about-our-crawler; crawler@example.com)"
    )
    assert [entry.domain for entry in config.quality] == ["example.com", "*.example.org"]
    assert config.crawler.minimum_time_on_page == 1000
    assert config.output.database_path == ROOT / "examples" / "map.db"


def test_a_minimal_configuration_has_defaults_for_the_rest(tmp_path: Path) -> None:
    config = load(tmp_path, LEAST)
    assert config.user_agent.header == "Mapper/1.0"
    assert "contact" in config.advice[0]
    assert config.crawler.max_depth == 3
    assert config.robots.on_error is RobotsOnError.RFC9309
    assert config.render.mode is RenderMode.NONE
    assert config.output.summary_path.parent == tmp_path


def test_all_mistakes_are_reported_together(tmp_path: Path) -> None:
    text = """
        colour = "blue"
        [crawler]
        max-depth = -1
        max-concurrent-pages-open = 101
        minimum-time-on-page = 99
        max-domain-requests = 0
        max_dept = 2
        [user-agent]
        crawler-name = "two words"
        crawler-version = 1.0
        contact-url = "about us"
        contact-email = "nobody"
        [http]
        ca-file = "nowhere.pem"
        resolve = ["x"]
        allow-http = "yes"
        [robots]
        on-error = "hope"
        [content]
        keep = 1
        [webhooks]
        on-complete = "hook"
        [render]
        mode = "maybe"
        wait-for = [""]
        [[quality]]
        domain = "exa mple.com"
        seeds = []
        [[quality]]
        domain = "ok.com"
        seeds = ["http://ok.com/", "not a url"]
        [[blacklist]]
        domain = "*"
        [[stub]]
    """
    found = violations(tmp_path, text)
    expected = [
        "[colour] is not a section",
        "[crawler] max-depth is '-1'",
        "[crawler] max-concurrent-pages-open is '101', but must be a whole number of pages from 1 to 100",
        "[crawler] minimum-time-on-page is '99'",
        "[crawler] max-domain-requests is '0'",
        "[crawler] max_dept is not a setting; did you mean max-depth?",
        "[user-agent] crawler-name is 'two words', but must be letters, digits and hyphens",
        "[user-agent] crawler-version is 1.0",
        "[user-agent] contact-url is 'about us'",
        "[user-agent] contact-email is 'nobody'",
        "[http] ca-file is 'nowhere.pem', but must be an existing file",
        "[http] resolve is 'x'",
        "[http] allow-http is 'yes', but must be true or false",
        "[robots] on-error is 'hope'",
        "[content] keep is 1",
        "[webhooks] on-complete is 'hook'",
        "[render] mode is 'maybe'",
        "[render] wait-for is ''",
        "[[quality]] number 1: domain is 'exa mple.com'",
        "[[quality]] number 1: seeds is missing; it must be a list of at least one item",
        "[[quality]] number 2: seeds is 'http://ok.com/'",
        "[[quality]] number 2: seeds is 'not a url'",
        "[[blacklist]] number 1: domain is '*'",
        "[[stub]] number 1: domain is missing",
    ]
    for words in expected:
        assert any(words in one for one in found), f"{words!r} is not in {found}"
    assert len(found) == len(expected)
    assert all(one.startswith(f"{tmp_path / 'web.toml'}, line ") and "\n" not in one for one in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there is no [[quality]] section"),
        (LEAST.replace("seeds", "seed"), "seed is not a setting; did you mean seeds?"),
        ("crawler = 1\n" + LEAST, "crawler must be a section, written [crawler]"),
        ("[quality]\ndomain = 'a.com'", "quality must be sections, each written [[quality]]"),
        (LEAST + "[[stub]]\ndomain = '*.com'", "is on a stubbed domain, so it would never be visited"),
        (LEAST.replace('"example.com"', '"example.org"'), "is not on example.org"),
        (LEAST + "[output]\ndatabase-path = 'x'\nsummary-path = './x'", "are the same file"),
        ("[[quality", "not valid TOML"),
    ],
)
def test_contradictions_are_refused_with_a_reason(tmp_path: Path, text: str, words: str) -> None:
    assert any(words in one for one in violations(tmp_path, text))


def test_the_memory_for_bodies_does_not_change_the_hash(tmp_path: Path) -> None:
    usual, small = load(tmp_path, LEAST), load(tmp_path, LEAST + '[http]\nmax-in-flight = "8MiB"')
    assert (usual.http.max_in_flight, small.http.max_in_flight) == (64 << 20, 8 << 20)
    assert map_job(small).limits.flight_bytes == 8 << 20
    assert small.config_hash == usual.config_hash


def test_http_seeds_are_valid_if_allowed(tmp_path: Path) -> None:
    text = LEAST.replace("https:", "http:")
    assert any("http needs allow-http" in one for one in violations(tmp_path, text))
    assert load(tmp_path, text + "[http]\nallow-http = true").quality[0].seeds == ("http://example.com/",)


def test_a_seed_is_requested_as_it_is_written_and_on_its_domain_with_www_too(tmp_path: Path) -> None:
    plain = load(tmp_path, LEAST)
    written = load(tmp_path, LEAST.replace("https://example.com/", "https://www.example.com/docs/"))
    same = load(tmp_path, LEAST.replace("https://example.com/", "https://www.example.com/"))
    assert written.quality[0].seeds == ("https://www.example.com/docs/",)
    assert same.config_hash == plain.config_hash != written.config_hash


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"configuration file .*none\.toml' cannot be read"):
        load_map_config(tmp_path / "none.toml")


def test_only_what_decides_about_pages_changes_the_hash(tmp_path: Path) -> None:
    lists = '[[stub]]\ndomain = "a.org"\n[[stub]]\ndomain = "b.org"\n'
    first = load(tmp_path, LEAST + lists).config_hash
    other = '# a comment\n[[stub]]\ndomain = "B.org"\n[[stub]]\ndomain = "a.org"\n[crawler]\nmax-depth = 3\n'
    assert load(tmp_path, other + LEAST + "[output]\ndatabase-path = 'x'").config_hash == first
    assert load(tmp_path, LEAST + lists + "[crawler]\nmax-depth = 4").config_hash != first
    assert load(tmp_path, LEAST + lists.replace("a.org", "c.org")).config_hash != first


@given(
    st.text(max_size=40), st.sampled_from(["crawler-name", "contact-url", "contact-email", "crawler-version"])
)
def test_any_user_agent_is_refused_or_can_be_sent(
    tmp_path_factory: pytest.TempPathFactory, text: str, key: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "agent.toml"
    quoted = "".join(f"\\U{ord(char):08x}" for char in text if not 0xD800 <= ord(char) <= 0xDFFF)
    name = "" if key == "crawler-name" else 'crawler-name = "Mapper"\n'
    path.write_text(
        f'[user-agent]\n{name}{key} = "{quoted}"\n[[quality]]\ndomain = "a.com"\nseeds = ["https://a.com/"]\n'
    )
    try:
        header = load_map_config(path).user_agent.header
    except ConfigError as error:
        refused = error.violations
    else:
        assert header.isascii()
        assert header.isprintable()
        return
    assert len(refused) == 1
    assert key in refused[0]


def test_a_map_begun_by_an_earlier_version_has_the_same_hash(tmp_path: Path) -> None:
    text = """
    [crawler]
    max-depth = 2
    [user-agent]
    crawler-name = "t"
    crawler-version = "1"
    [[quality]]
    domain = "a.test"
    seeds = ["https://a.test/"]
    [[stub]]
    domain = "b.test"
    """
    made_then = "be9d217d297654de9d8508fdb2822841d878c7e1d8663f4a0769c82a92d10e72"
    assert load(tmp_path, text).config_hash == made_then
    budget = text.replace("max-depth = 2", "max-depth = 2\nmax-pages-under = ['/a/**=3']")
    assert load(tmp_path, budget).config_hash != made_then
