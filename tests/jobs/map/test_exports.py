"""Other programs read the exports of a map correctly, whatever its titles and URLs contain."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import networkx as nx
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.errors import StateDamaged, UsageError
from sumi.jobs.map.analysis import measured
from sumi.jobs.map.database import open_database
from sumi.jobs.map.export import write_gexf, write_graphml, write_parquet_links, write_parquet_nodes
from sumi.jobs.map.graph import Graph, domain_graph, page_graph
from tests.made_maps import SMALL, SMALL_LINKS, Page, make_map, small_map

Writer = Callable[[Graph, BinaryIO], None]
WRITERS = pytest.mark.parametrize(
    ("write", "read"),
    [(write_graphml, nx.read_graphml), (write_gexf, nx.read_gexf)],
    ids=["graphml", "gexf"],
)


def read_back(write: Writer, read: Callable[[BinaryIO], Any], graph: Graph) -> Any:
    file = io.BytesIO()
    write(graph, file)
    file.seek(0)
    return read(file)


@WRITERS
def test_pages_and_links_are_read_back(
    tmp_path: Path, write: Writer, read: Callable[[BinaryIO], Any]
) -> None:
    with open_database(small_map(tmp_path)) as db:
        graph = read_back(write, read, page_graph(db))
    assert graph.is_directed()
    urls = {node: values["url"] for node, values in graph.nodes(data=True)}
    assert sorted(urls.values()) == sorted(page.url for page in SMALL)
    links = {(urls[source], urls[target]) for source, target in graph.edges()}
    assert links == {(SMALL[source].url, SMALL[target].url) for source, target in SMALL_LINKS}
    kinds = {values["domain"]: values["kind"] for _, values in graph.nodes(data=True)}
    assert kinds == {
        "good.test": "quality",
        "near.test": "discovered",
        "slow.test": "discovered",
        "dark.test": "discovered",
        "ads.test": "blacklisted",
        "wiki.test": "stubbed",
    }
    home = next(values for _, values in graph.nodes(data=True) if values["url"] == "https://good.test/")
    assert (home["title"], home["depth"], home["state"]) == ("Home", 0, "Processed")
    assert home["label"] == "https://good.test/"


@WRITERS
def test_domains_are_joined_by_the_number_of_links(
    tmp_path: Path, write: Writer, read: Callable[[BinaryIO], Any]
) -> None:
    with open_database(small_map(tmp_path)) as db:
        graph = read_back(write, read, measured(domain_graph(db)))
    names = {node: values["domain"] for node, values in graph.nodes(data=True)}
    weights = {(names[a], names[b]): int(values["weight"]) for a, b, values in graph.edges(data=True)}
    assert weights == {
        ("good.test", "near.test"): 1,
        ("good.test", "ads.test"): 2,
        ("good.test", "wiki.test"): 1,
        ("near.test", "slow.test"): 1,
        ("near.test", "dark.test"): 1,
    }
    near = next(values for _, values in graph.nodes(data=True) if values["domain"] == "near.test")
    assert (near["pages"], near["crawled"], near["in_degree"], near["bridges"]) == (4, 2, 1, 3)


def test_parquet_holds_the_same_nodes_and_links(tmp_path: Path) -> None:
    nodes, links = io.BytesIO(), io.BytesIO()
    with open_database(small_map(tmp_path)) as db:
        graph = page_graph(db)
        write_parquet_nodes(graph, nodes)
        write_parquet_links(graph, links)
    table = pyarrow.parquet.read_table(nodes).to_pylist()
    urls = {row["id"]: row["url"] for row in table}
    assert [row["url"] for row in table] == [page.url for page in SMALL]
    assert [
        (urls[row["source"]], urls[row["target"]]) for row in pyarrow.parquet.read_table(links).to_pylist()
    ] == [(SMALL[source].url, SMALL[target].url) for source, target in sorted(SMALL_LINKS)]


@WRITERS
@settings(max_examples=50)
@given(title=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_title_leaves_the_file_well_formed(
    tmp_path_factory: pytest.TempPathFactory,
    write: Writer,
    read: Callable[[BinaryIO], Any],
    title: str,
) -> None:
    graph = _one_page(title)
    (values,) = (values for _, values in read_back(write, read, graph).nodes(data=True))
    impossible = [
        char for char in title if (ord(char) < 32 and char not in "\t\n\r") or char in "\ufffe\uffff"
    ]
    if title.strip() and not impossible:  # a reader may strip what is only white space
        assert values["url"].strip() == title.strip()


def _one_page(title: str) -> Graph:
    from sumi.jobs.map.graph import Column, ColumnType

    return Graph(
        (Column("url", ColumnType.TEXT),), 1, lambda: iter([(title,)]), lambda: iter(()), weighted=False
    )


def test_a_vanished_link_is_not_exported(tmp_path: Path) -> None:
    path = make_map(tmp_path / "map.db", SMALL, SMALL_LINKS, runs=2, vanished=[(0, 2, 2)])
    with open_database(path) as db:
        assert sorted(link[:2] for link in page_graph(db).links()) == sorted(set(SMALL_LINKS) - {(0, 2)})


def test_urls_that_are_only_references_are_nodes_too(tmp_path: Path) -> None:
    path = make_map(tmp_path / "map.db", [Page("https://good.test/", depth=0)])
    import apsw

    db = apsw.Connection(str(path))
    db.execute("INSERT INTO stubbed_urls VALUES (9, 'https://wiki.test/A', 'wiki.test', 1, 1)")
    db.execute("INSERT INTO stubbed_referrers VALUES (1, 9, 1, 1)")
    db.close()
    with open_database(path) as db:
        graph = page_graph(db)
        assert graph.size == 2
        assert list(graph.nodes())[1][:4] == ("https://wiki.test/A", "wiki.test", "stubbed", "Stubbed")
        assert list(graph.links()) == [(0, 1, 1)]


def test_an_empty_map_is_exported_too(tmp_path: Path) -> None:
    with open_database(make_map(tmp_path / "map.db", [])) as db:
        for graph in (page_graph(db), measured(page_graph(db)), measured(domain_graph(db))):
            assert len(read_back(write_graphml, nx.read_graphml, graph)) == 0


def test_a_file_that_is_not_a_map_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    import apsw

    apsw.Connection(str(other)).execute("CREATE TABLE x (y)")
    junk = tmp_path / "junk.db"
    junk.write_bytes(b"no database at all" * 100)
    for path, error, words in (
        (tmp_path / "none.db", UsageError, "does not exist"),
        (other, UsageError, "is not the database of a map"),
        (junk, StateDamaged, "is not a database"),
    ):
        with pytest.raises(error, match=words), open_database(path):
            pass
