"""A crawl configuration means what its file says, and all its mistakes are reported at once, by line."""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sumi.sync
from sumi.errors import ConfigError, UsageError
from sumi.frontier.pacing import HostPace
from sumi.frontier.retry import retry_delay
from sumi.jobs.pipeline.config import CRAWL_SETTINGS, CrawlConfig, CrawlMode
from sumi.jobs.pipeline.config_file import load_crawl_config, load_seeds, new_run_id
from sumi.jobs.pipeline.policy import compliance_banner, crawl_caps, crawl_profile, crawl_scope
from sumi.jobs.pipeline.recipe import crawl_job, scrape_job
from sumi.jobs.pipeline.workspace import default_layout, layout_of
from sumi.outcomes import Outcome
from sumi.policy import RetryPolicy, RobotsOnError, StateBackend
from sumi.scope.caps import CapPolicy
from sumi.scope.profiles import ProfileName
from sumi.settings.config_file import MAX_YAML_BYTES

ROOT = Path(__file__).parents[3]
RUN = "2025-01-09T15-30Z"
AGENT = 'user_agent: "bot/1.0 (+https://example.org/bot)"\n'

Load = Callable[[str], CrawlConfig]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def read(text: str) -> CrawlConfig:
        path = tmp_path / "crawl.yaml"
        path.write_text(text, encoding="utf-8")
        return load_crawl_config(path, RUN)

    return read


def violations(load: Load, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(text)
    return [re.sub(r"^.*crawl\.yaml(?:, )?", "", each) for each in caught.value.violations]


# ── what is read ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_user_agent_with_contact_is_all_it_takes(load: Load, tmp_path: Path) -> None:
    config = load(AGENT)
    assert (config.profile, config.mode, config.run_id) == (ProfileName.GITHUB, CrawlMode.SEPARATED, RUN)
    assert config.scope.allowed_hosts == ("github.com",)
    assert (config.limits.global_concurrency, config.limits.req_per_sec) == (2, 1.0)
    assert (config.limits.backoff_base_ms, config.limits.backoff_cap_ms) == (500, 8000)
    assert (config.robots.respect, config.robots.on_error) == (True, RobotsOnError.RFC9309)
    assert config.store.permissions == 0o644
    home = tmp_path / "workspace"
    assert config.workspace == home
    assert config.spool.dir == home / "spool/discoveries"
    assert config.bookmark.path == home / "state/spool_bookmark.json"
    assert config.pages_csv.path == home / f"logs/pages-{RUN}.csv"
    assert config.metrics.scraper_path == home / f"logs/scraper_metrics-{RUN}.csv"
    assert config.metadata.path == home / "metadata/crawl_metadata.jsonl"
    assert config.store.root == home / "store/html"


@pytest.mark.parametrize("job", [sumi.sync.crawl, sumi.sync.scrape, sumi.sync.run])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"warc": "pages.warc"}, "must end in .warc.gz"),
        ({"processes": 257}, "between 0 and 256, not 257"),
        ({"processes": -1}, "between 0 and 256, not -1"),
    ],
)
def test_python_callers_get_the_checks_of_the_command_line(
    tmp_path: Path, job: Callable[..., object], options: dict[str, Any], words: str
) -> None:
    path = tmp_path / "crawl.yaml"
    path.write_text(AGENT, encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        job(path, **options)
    assert sorted(tmp_path.iterdir()) == [path]


def test_the_memory_for_bodies_in_flight_can_be_lowered(load: Load) -> None:
    assert scrape_job(load(AGENT), "scraper").limits.flight_bytes == 64 << 20
    small = load(AGENT + "limits: {max_in_flight: 8MiB}")
    assert scrape_job(small, "scraper").limits.flight_bytes == 8 << 20


def test_backoffs_set_the_waits_of_retries_and_of_hosts_that_answer_429(load: Load) -> None:
    config = load(AGENT + "limits: {max_retries: 4, backoff_base_ms: 2000, backoff_cap_ms: 9000}")
    for job in (scrape_job(config, "scraper"), crawl_job(config, "crawler", (), keep_raw=False)):
        retry = job.recipe.retry
        assert retry == RetryPolicy(4, first_delay=2.0, max_delay=9.0)
        assert [retry_delay(Outcome.SERVER_ERROR, tries, retry, 0.0) for tries in range(4)] == [2, 4, 8, 9]
        pace, now, pauses = HostPace(0.0, job.frontier.pacing), 0.0, []
        for _ in range(4):
            pace.throttled(now, 429, None, job.frontier.pacing)
            pauses.append(pace.hold_until - now)
            now = pace.hold_until
        assert pauses == [2.0, 4.0, 8.0, 9.0]


def test_what_is_less_careful_than_usual_is_noted(load: Load) -> None:
    assert crawl_job(load(AGENT), "crawler", (), keep_raw=False).notes == ()
    bold = load(AGENT + "robots: {respect: false, on_error: allow}\nnetwork: {allow_private: true}")
    notes = crawl_job(bold, "crawler", (), keep_raw=False).notes
    assert [note.split()[0] for note in notes] == ["robots.txt", "an", "private"]


def test_crawler_and_scraper_share_a_file_or_have_one_each(load: Load) -> None:
    crawler = load(AGENT + "scope:\n  deny_patterns: ['/x/']\ncaps: {per_repo_max_issues: 5}\n")
    assert crawler.scope.deny_patterns == ("/x/",)
    assert crawler.caps.per_repo_max_issues == 5
    scraper = load(AGENT + 'store: {compress: true, permissions: "0o600"}\nspool:\n  max_backlog_gb: 0.5\n')
    assert (scraper.store.compress, scraper.store.permissions) == (True, 0o600)
    assert scraper.spool.max_backlog_gb == 0.5


@pytest.mark.parametrize("backend", list(StateBackend))
def test_each_backend_has_its_own_default_path(load: Load, backend: str) -> None:
    name = "frontier" if backend == "files" else f"frontier.{backend}"
    assert load(AGENT + f"frontier: {{backend: {backend}}}").frontier.db_path.name == name
    given_place = load(AGENT + f"frontier: {{backend: {backend}, db_path: state/mine}}").frontier
    assert given_place.db_path.name == "mine"


@pytest.mark.parametrize(
    ("workspace", "path", "place"),
    [
        ("workspace", "logs/a.csv", "workspace/logs/a.csv"),
        ("workspace", "workspace/logs/a.csv", "workspace/logs/a.csv"),
        ("./workspace", "workspace/logs/a.csv", "workspace/logs/a.csv"),
        ("data/ws", "data/ws/a.csv", "data/ws/a.csv"),
        ("data/ws", "./x/../a.csv", "data/ws/a.csv"),
        ("ws", "{run_id}/a-{run_id}.csv", f"ws/{RUN}/a-{RUN}.csv"),
    ],
)
def test_paths_are_relative_to_the_workspace_and_that_to_the_file(
    load: Load, tmp_path: Path, workspace: str, path: str, place: str
) -> None:
    config = load(AGENT + f"workspace: {workspace}\npages_csv: {{path: '{path}'}}\n")
    assert config.pages_csv.path == tmp_path / place


def test_an_absolute_path_is_fine_inside_an_absolute_workspace(load: Load, tmp_path: Path) -> None:
    home = tmp_path / "elsewhere"
    config = load(AGENT + f"workspace: {home}\nstore: {{root: {home}/pages}}\n")
    assert config.store.root == home / "pages"


def test_the_file_may_set_the_run_id(load: Load) -> None:
    assert load(AGENT + "run_id: first-try").pages_csv.path.name == "pages-first-try.csv"
    assert new_run_id(1736436650.0) == RUN


def test_values_that_yaml_would_convert_are_read_as_written(load: Load) -> None:
    config = load(AGENT + "run_id: 2024-01-01\nscope: {keep_query: [on, no, 1:30, null_, 0o7]}\n")
    assert config.run_id == "2024-01-01"
    assert config.scope.keep_query == ("on", "no", "1:30", "null_", "0o7")


def test_an_empty_section_or_list_is_allowed(load: Load) -> None:
    config = load(AGENT + "caps:\n  # per_repo_max_pages: 9\nscope:\n  allow_patterns:\n  #  - x\n")
    assert (config.caps.per_repo_max_pages, config.scope.allow_patterns) == (0, ())


# ── what is refused ────────────────────────────────────────────────────────────────────────────────────────


def test_all_mistakes_are_reported_at_once_with_their_lines(load: Load) -> None:
    text = (
        "profile: gitlab\n"
        "user_agent: nobody/1.0\n"
        "limits:\n"
        "  req_per_sec: 0\n"
        "  global_concurrency: 0\n"
        "  max_retrys: 3\n"
        "spool: {max_backlog_gb: -1}\n"
        "pages_csv:\n"
        "  path: ''\n"
        "store:\n"
        "  permissions: 644\n"
        "extra: 1\n"
    )
    found = violations(load, text)
    assert [each.partition(":")[0] for each in found] == [
        f"line {number}" for number in (1, 2, 4, 5, 6, 7, 9, 11, 12)
    ]
    assert "profile is 'gitlab', but must be github or generic" in found[0]
    assert "user_agent: does not say how to reach you" in found[1]
    assert "limits.req_per_sec is '0', but must be a number of requests per second" in found[2]
    assert "limits.global_concurrency is '0', but must be a whole number" in found[3]
    assert "limits.max_retrys is not a setting; did you mean max_retries?" in found[4]
    assert "spool.max_backlog_gb is '-1'" in found[5]
    assert "pages_csv.path is '', but must be a path" in found[6]
    assert "store.permissions is '644', but must be permissions such as \"0o644\"" in found[7]
    assert "extra is neither a setting nor a section" in found[8]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mode: unified", "user_agent is missing"),
        (AGENT + "user_agent: x", "line 2: user_agent is already set in line 1"),
        (AGENT + "scope: {allowed_hosts: [github.com, gist.github.com]}", "allows github.com only"),
        (AGENT + "scope: {allowed_hosts: ['*.github.com']}", "allows github.com only"),
        (
            AGENT + "scope: {allowed_hosts: github.com}",
            "scope.allowed_hosts is 'github.com', but must be a list, each item",
        ),
        (AGENT + "scope: {allow_patterns: ['(']}", "line 2: scope.allow_patterns: Regular expression '('"),
        (AGENT + "scope: {deny_patterns: ['(?=x)']}", "combine allow_patterns and deny_patterns instead"),
        (AGENT + "scope: [a]", "line 2: scope must be a section"),
        (AGENT + "limits: {req_per_sec: [1]}", "not a list or a section"),
        (AGENT + "limits: {req_per_sec: }", "line 2: limits.req_per_sec is empty"),
        (AGENT + "limits: {req_per_sec: .nan}", "limits.req_per_sec is '.nan'"),
        (
            AGENT + "limits: {backoff_base_ms: 9000, backoff_cap_ms: 100}",
            "is more than limits.backoff_cap_ms",
        ),
        (
            AGENT + "profile: generic\ncaps: {per_repo_max_prs: 3}",
            "line 3: caps.per_repo_max_prs is for profile",
        ),
        (AGENT + "store: {root: ../x}", "within the workspace"),
        (AGENT + "store: {root: /etc}", "within the workspace"),
        (AGENT + "store: {root: .}", "within the workspace"),
        (AGENT + "pages_csv: {path: '{run}.csv'}", "has {run}, but only {run_id} is replaced"),
        (AGENT + "store: {dictionary: auto}", "add store.compress: true"),
        (AGENT + "trajectory: {path: a.csv}\npages_csv: {path: ./a.csv}", "are both"),
        (AGENT + "run_id: ../x", "line 2: run_id is '../x'"),
        (AGENT + "store: {permissions: '0o044'}", "with read and write for the owner"),
        (AGENT + "network: {ca_file: none.pem}", "but must be an existing file"),
        ("- a list", "line 1: must be keys with values"),
    ],
)
def test_a_mistake_is_a_sentence(load: Load, text: str, words: str) -> None:
    (sentence,) = violations(load, text)
    assert words in sentence


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &x [1]\nb: *x", "line 1: not readable: anchors (&) and aliases (*) are not supported"),
        ("a: !!python/object/apply:os.system ['true']", "is not supported; remove it"),
        ("a: !secret x", "the tag '!secret' is not supported"),
        ("a: 1\n---\nb: 2", "line 3: not readable: a second document begins"),
        ("[" * 10_000, "nested deeper than 8 levels"),
        ("{" * 10_000, "nested deeper than 8 levels"),
        ("{a: " * 10_000, "nested deeper than 8 levels"),
        ("- " * 10_000, "nested deeper than 8 levels"),
        ("a: [" + "x," * 30_000 + "]", "more than 20,000 values"),
        ("a: 'x\nb: 2", "not readable:"),
        ("a:\n\t- b", "line 2: not readable:"),
        ("a: \0", "not readable: unacceptable character"),
        ("? [a, b]\n: c", "a key must be a plain word"),
        ("#" + "x" * MAX_YAML_BYTES, "larger than 256 KiB"),
    ],
)
def test_harmful_or_meaningless_yaml_is_refused(load: Load, text: str, words: str) -> None:
    (sentence,) = violations(load, text)
    assert words in sentence


def test_a_missing_or_binary_file_is_a_sentence_too(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        load_crawl_config(tmp_path / "none.yaml", RUN)
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not valid UTF-8"):
        load_crawl_config(tmp_path / "binary.yaml", RUN)


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#?,% \n\t0.~", max_size=80))
def test_any_text_is_a_configuration_or_a_sentence(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crawl.yaml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError):  # no such text names a user agent
            load_crawl_config(path, RUN)


# ── what it means ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_policy_follows_the_configuration(load: Load) -> None:
    config = load(AGENT + "caps: {per_repo_max_pages: 9, per_repo_max_issues: 3, per_repo_max_prs: 2}")
    assert crawl_scope(config).profile is ProfileName.GITHUB
    assert crawl_caps(config) == CapPolicy(ProfileName.GITHUB, 9, (("issues", 3), ("pull", 2)))
    assert crawl_profile(config).gate("https://github.com/o/r").ok
    own = load(AGENT + "scope: {allow_patterns: ['/wiki$']}")
    assert crawl_scope(own).profile is None
    assert crawl_profile(own).gate("https://github.com/o/r/wiki").ok


def test_the_banner_names_the_agent_and_the_terms_to_read(load: Load) -> None:
    words = "\n".join(compliance_banner(load(AGENT + "robots: {respect: false}")))
    for said in (
        "bot/1.0 (+https://example.org/bot)",
        "NOT obeyed",
        "github.com/robots.txt",
        "terms-of-service",
    ):
        assert said in words
    assert "acceptable-use" in words
    generic = "\n".join(compliance_banner(load(AGENT + "profile: generic")))
    assert "hosts: any" in generic
    assert "github" not in generic


@pytest.mark.parametrize("name", ["github", "generic"])
def test_the_examples_are_valid(name: str) -> None:
    config = load_crawl_config(ROOT / "examples" / f"{name}.yaml", RUN)
    assert config.profile == name


def test_the_example_for_github_shows_every_setting_with_its_default(load: Load) -> None:
    text = (ROOT / "examples" / "github.yaml").read_text(encoding="utf-8")
    for key in CRAWL_SETTINGS:
        section = re.search(rf"(?ms)^{key.section}:\n(.*?)(?=^\S|\Z)", text)[1] if key.section else text  # type: ignore[index]
        assert re.search(rf"(?m)^ *(?:# )?{key.name}:", section), f"{key.path} is not shown"
    shown, default = load(text), load(AGENT)
    assert shown.limits == default.limits
    for section in ("frontier", "spool", "store", "index", "bookmark", "pages_csv", "metrics", "trajectory"):
        assert getattr(shown, section) == getattr(default, section)


def test_every_setting_has_a_field_and_every_field_a_setting() -> None:
    fields: set[str] = set()
    for top in msgspec.structs.fields(CrawlConfig):
        inner = getattr(top.type, "__struct_fields__", ())
        fields |= {f"{top.name}.{name}" for name in inner} or {top.name}
    assert fields - {"patterns"} == {setting.path for setting in CRAWL_SETTINGS}


def test_the_default_workspace_is_that_of_a_default_configuration(load: Load, tmp_path: Path) -> None:
    assert layout_of(load(AGENT)) == default_layout(tmp_path / "workspace")


# ── seeds ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_seeds_are_normalized_as_the_crawl_does(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text(
        "# first\n\nHTTPS://GitHub.com/a/b/?x=1#y\nhttps://github.com/a/b\nhttps://github.com/c?page=2\n"
    )
    first, second = load_seeds(path)
    assert (first.identity, first.target) == ("https://github.com/a/b", "https://github.com/a/b/")
    assert (second.identity, second.address) == ("https://github.com/c", "")
    assert load_seeds(path, ("page",))[1].target == "https://github.com/c?page=2"


def test_bad_seeds_are_reported_by_line(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text("https://github.com/a\nftp://x\nnonsense\n")
    with pytest.raises(ConfigError) as caught:
        load_seeds(path)
    assert [each.partition(", ")[2].partition(":")[0] for each in caught.value.violations] == [
        "line 2",
        "line 3",
    ]
    path.write_text("# nothing\n")
    with pytest.raises(UsageError, match="no URL"):
        load_seeds(path)
    with pytest.raises(UsageError, match="workspace configure"):
        load_seeds(tmp_path / "none.txt")
