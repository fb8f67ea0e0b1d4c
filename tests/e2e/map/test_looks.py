"""A map that ``sumi map`` made can be exported, drawn, analyzed and compared with its earlier runs."""

import json
from pathlib import Path

import networkx as nx
import pyarrow.parquet
import pytest

from tests.commands import RunSumi
from tests.e2e.map.map_site import Page, running_web
from tests.made_maps import small_map

WEB = {
    "good.test/": Page(("/a", "near.test/", "ads.test/pixel", "wiki.test/Page")),
    "good.test/a": Page(("/", "/b")),
    "good.test/b": Page(("near.test/",)),
    "near.test/": Page(("good.test/",)),
    "new.test/": Page(),
    "ads.test/pixel": Page(),
    "wiki.test/Page": Page(),
}
LISTS = '[[blacklist]]\ndomain = "ads.test"\n[[stub]]\ndomain = "*.wiki.test"\n'


def test_a_crawl_can_be_exported_analyzed_and_compared(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web(dict(WEB), tmp_path) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}, LISTS))
        assert run_sumi("map", config, "-q").returncode == 0
        exported = run_sumi("map", "export", "--format", "graphml", config)
        assert exported.returncode == 0, exported.stderr
        graph = nx.read_graphml(tmp_path / "map-pages.graphml")
        found = {web.address(values["url"]): values["kind"] for _, values in graph.nodes(data=True)}
        assert found == {
            "good.test/": "quality",
            "good.test/a": "quality",
            "good.test/b": "quality",
            "near.test/": "discovered",
            "ads.test/pixel": "blacklisted",
            "wiki.test/Page": "stubbed",
        }
        drawn = run_sumi("map", "export", "--format", "html", config, "-o", "web.html")
        assert drawn.returncode == 0, drawn.stderr
        assert "wiki.test" in (tmp_path / "web.html").read_text()
        web.pages["good.test/a"] = Page(("/", "new.test/"))
        del web.pages["good.test/b"]
        run_sumi("map", config, "--update", "-q")
        compared = run_sumi("map", "diff", "1", "2", config, "--json")
    assert compared.returncode == 1, compared.stderr
    lines = [json.loads(line) for line in compared.stdout.splitlines()]
    seen = {(one["subject"], one["event"], web.address(one["name"])) for one in lines}
    assert ("page", "came", "new.test/") in seen
    assert ("page", "went", "good.test/b") in seen
    assert ("page", "changed", "good.test/a") in seen
    assert ("domain", "came", "new.test") in seen
    links = {(one["event"], web.address(one["target"])) for one in lines if one["subject"] == "link"}
    assert links == {("came", "new.test/"), ("went", "good.test/b")}
    assert "pages, " in compared.stderr


def test_every_format_at_both_levels(tmp_path: Path, run_sumi: RunSumi) -> None:
    small_map(tmp_path)
    for level, nodes in (("page", 11), ("domain", 6)):
        for name in ("graphml", "gexf", "parquet", "html"):
            done = run_sumi("map", "export", "--format", name, "map.db", "--level", level)
            assert done.returncode == 0, done.stderr
        assert len(nx.read_gexf(tmp_path / f"map-{level}s.gexf")) == nodes
        assert len(nx.read_graphml(tmp_path / f"map-{level}s.graphml")) == nodes
        table = pyarrow.parquet.read_table(tmp_path / f"map-{level}s-nodes.parquet")
        assert table.num_rows == nodes
        assert (tmp_path / f"map-{level}s.html").stat().st_size


def test_an_export_over_the_map_itself_is_refused(tmp_path: Path, run_sumi: RunSumi) -> None:
    small_map(tmp_path)
    before = (tmp_path / "map.db").read_bytes()
    (tmp_path / "same.db").hardlink_to(tmp_path / "map.db")
    (tmp_path / "folder").mkdir()
    for target, why in (("map.db", "the map itself"), ("same.db", "the map itself"), ("folder", "a folder")):
        refused = run_sumi("map", "export", "--format", "gexf", "map.db", "-o", target)
        assert refused.returncode == 2
        assert why in refused.stderr
    assert (tmp_path / "map.db").read_bytes() == before


def test_measures_are_columns_of_an_export(tmp_path: Path, run_sumi: RunSumi) -> None:
    small_map(tmp_path)
    done = run_sumi("map", "export", "--format", "parquet", "--measures", "map.db", "-o", "x.parquet")
    assert done.returncode == 0, done.stderr
    rows = pyarrow.parquet.read_table(tmp_path / "x-nodes.parquet").to_pylist()
    ads = next(row for row in rows if row["domain"] == "ads.test")
    assert (ads["in_degree"], ads["out_degree"]) == (2, 0)
    assert sum(row["pagerank"] for row in rows) == pytest.approx(1.0)


def test_an_analysis_as_text_and_as_json(tmp_path: Path, run_sumi: RunSumi) -> None:
    small_map(tmp_path)
    words = run_sumi("map", "analyze", "map.db", "--top", "2")
    assert words.returncode == 0, words.stderr
    assert words.stdout.startswith("6 domains, 5 links between them")
    assert "near.test - slow.test" in words.stdout
    figures = json.loads(run_sumi("map", "analyze", "map.db", "--level", "page", "--json").stdout)
    assert (figures["nodes"], figures["links"]) == (11, 11)
    assert figures["most_linked"][0] == {"name": "https://ads.test/pixel", "value": 2}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("export", "map.db"), "--format"),
        (("export", "--format", "bmp", "map.db"), "bmp"),
        (("export", "--format", "html", "--measures", "map.db"), "--measures is for the other formats"),
        (("export", "--format", "gexf", "none.db"), "none.db does not exist"),
        (("diff", "1", "5", "map.db"), "no run 5"),
        (("analyze", "map.db", "--top", "0"), "--top must be at least 1"),
    ],
)
def test_a_mistake_is_one_sentence(
    tmp_path: Path, run_sumi: RunSumi, arguments: tuple[str, ...], words: str
) -> None:
    small_map(tmp_path)
    done = run_sumi("map", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["export", "diff", "analyze"])
def test_help_has_examples(run_sumi: RunSumi, command: str) -> None:
    done = run_sumi("map", command, "--help")
    assert done.returncode == 0
    assert f"sumi map {command}" in done.stdout.partition("examples:")[2]


def test_all_mistakes_of_a_configuration_are_reported(tmp_path: Path, run_sumi: RunSumi) -> None:
    (tmp_path / "bad.toml").write_text(
        '[crawler]\nmax-depth = -1\nmax_depht = 2\n[user-agent]\ncrawler-name = ""\n'
        '[[quality]]\ndomain = "a b"\n'
    )
    done = run_sumi("map", "bad.toml")
    assert done.returncode == 2
    said = done.stderr.splitlines()
    for key in ("max-depth is '-1'", "max_depht", "crawler-name", "number 1: domain", "number 1: seeds"):
        assert sum("bad.toml, line " in line and key in line for line in said) == 1, key
    assert len(said) == 5
