"""One table reads TOML and YAML alike, and reports every mistake of either at once."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from sumi.errors import ConfigError
from sumi.settings.config_file import ConfigFile, MappingNode, nested, toml_file, yaml_file
from sumi.settings.kinds import FILE, SWITCH, URL, many, size, whole
from sumi.settings.setting import Setting, in_section
from sumi.settings.yaml_nodes import read_yaml

Open = Callable[[Path], ConfigFile]


class Fetching(msgspec.Struct):
    retries: int = 3
    max_body: int = 1024


class Site(msgspec.Struct):
    start: str
    deep: bool = False


TABLE = (
    *in_section(
        "fetching",
        Fetching,
        Setting("retries", whole(0, 20, "attempts"), "Attempts."),
        Setting("max-body", size(1, 1 << 30), "Largest body."),
        Setting("ca-file", FILE, "Trusted."),
    ),
    *in_section(
        "site",
        Site,
        Setting("start", URL, "Where.", required=True),
        Setting("deep", SWITCH, "All of it."),
        Setting("also", many(URL), "More."),
        repeated=True,
    ),
)

TOML = """
[fetching]
retries = 5
max-body = "2KiB"
ca-file = "ca.pem"
[[site]]
start = "a.example"
deep = true
[[site]]
start = "b.example"
also = ["c.example"]
"""
YAML = """
fetching: {retries: 5, max-body: 2KiB, ca-file: ca.pem}
site:
  - {start: a.example, deep: yes}
  - start: b.example
    also: [c.example]
"""


def written(folder: Path, text: str) -> Path:
    (folder / "ca.pem").touch()
    (folder / "file").write_text(text)
    return folder / "file"


@pytest.mark.parametrize(("opened", "text"), [(toml_file, TOML), (yaml_file, YAML)])
def test_both_formats_say_the_same(tmp_path: Path, opened: Open, text: str) -> None:
    file = opened(written(tmp_path, text))
    values = nested(file.read(TABLE, folder=tmp_path))
    file.refuse()
    assert values == {
        "fetching": {"retries": 5, "max_body": 2048, "ca_file": str(tmp_path / "ca.pem")},
        "site": [
            {"start": "https://a.example/", "deep": True},
            {"start": "https://b.example/", "also": ("https://c.example/",)},
        ],
    }


def test_the_table_knows_the_defaults_of_its_structs() -> None:
    defaults = {setting.path: setting.default for setting in TABLE}
    assert (defaults["fetching.retries"], defaults["site.deep"], defaults["site.start"]) == (3, False, None)


@pytest.mark.parametrize(
    ("opened", "text", "words"),
    [
        (
            toml_file,
            "[fetching]\nretrys = 1\nretries = '5'\n[fetchin]\n[[site]]\nalso = 'x y'\n",
            [
                "line 2: [fetching] retrys is not a setting; did you mean retries?",
                "line 3: [fetching] retries is '5', but must be a whole number of attempts",
                "line 4: [fetchin] is not a section; did you mean fetching?",
                "line 6: [[site]] number 1: also is 'x y', but must be a list, each item",
                "line 5: [[site]] number 1: start is missing; it must be an http or https address",
            ],
        ),
        (
            yaml_file,
            "fetching:\n  retrys: 1\n  retries: many\nsites: 1\nsite: {start: a}\nfetching: {}\n",
            [
                "line 2: fetching.retrys is not a setting; did you mean retries?",
                "line 3: fetching.retries is 'many', but must be a whole number of attempts",
                "line 4: sites is neither a setting nor a section; did you mean site?",
                "line 5: site must be a list of sections",
                "line 6: fetching is already set in line 1",
            ],
        ),
    ],
)
def test_every_mistake_is_reported_at_once(tmp_path: Path, opened: Open, text: str, words: list[str]) -> None:
    file = opened(written(tmp_path, text))
    file.read(TABLE)
    file.complain("the job has something to add")
    with pytest.raises(ConfigError) as caught:
        file.refuse()
    found = caught.value.violations
    assert len(found) == len(words) + 1
    assert all(any(said in each for each in found) for said in words), found
    assert any(each.endswith(": the job has something to add") for each in found)


def test_lines_of_toml_are_counted_past_values_of_several_lines(tmp_path: Path) -> None:
    text = (
        "# about\n[[site]]\nstart = 'a.example'\nalso = [\n  'b.example', # [fetching]\n  'c.example',\n]\n"
        '\n[[site]]\nstart = """\na.example\n[fetching]\nretries = 1\n"""\ndeep = 1\n'
        "[fetching]\nmax-body = [\n[1],\n[2]]\nretries = 99\n"
    )
    file = toml_file(written(tmp_path, text))
    file.read(TABLE)
    with pytest.raises(ConfigError) as caught:
        file.refuse()
    lines = [int(words.partition("line ")[2].partition(":")[0]) for words in caught.value.violations]
    assert lines == [10, 15, 17, 20]


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "---\n...\n"])
def test_an_empty_file_is_a_mapping_that_begins_in_its_first_line(text: str) -> None:
    assert read_yaml(text) == MappingNode(1, [])
