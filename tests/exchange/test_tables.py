"""Tables of pages and sections: the same rows in every format, read back by DuckDB and pyarrow."""

import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from sumi.corpus.sections import sections
from tests.commands import RunSumi
from tests.exchange.conftest import FAST
from tests.folder_site import FolderSite

PAGES = 6


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


@pytest.mark.parametrize("words", [(), ("--sections",)])
def test_json_lines_and_parquet_hold_the_same(
    run_sumi: RunSumi, mirrored: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    for name in ("jsonl", "parquet"):
        done = run_sumi("export", name, *words, "-o", f"rows.{name}")
        assert done.returncode == 0, done.stderr
    rows = lines(tmp_path / "rows.jsonl")
    table = pyarrow.parquet.read_table(tmp_path / "rows.parquet")
    kind = rows[0]["schema"]
    assert kind == ("sumi.sections/1" if words else "sumi.pages/1")
    assert table.schema.metadata[b"sumi.schema"].decode() == kind
    same = [{key: value for key, value in row.items() if key != "schema"} for row in rows]
    read = table.to_pylist()
    for row in read:
        for name in {"fetched_at", "changed_at"} & row.keys():
            row[name] = row[name] and row[name].strftime("%Y-%m-%dT%H:%M:%SZ")
    assert read == same
    for row in rows:
        assert row["sha256"] == sha256(row["text"].encode()).hexdigest()
    keys = [(row["url"], row.get("position", 0)) for row in rows]
    assert keys == sorted(keys)
    duckdb = pytest.importorskip("duckdb", reason="pip install 'sumi[readers]'")
    for name, read_it in (("jsonl", "read_json"), ("parquet", "read_parquet")):
        found = duckdb.sql(
            f"SELECT count(*), sum(tokens) FROM {read_it}('{tmp_path}/rows.{name}')"
        ).fetchall()
        assert found == [(len(rows), sum(row["tokens"] for row in rows))]


def test_links_are_of_the_web_and_sections_make_the_page(
    run_sumi: RunSumi, site: FolderSite, mirrored: Path, tmp_path: Path
) -> None:
    assert run_sumi("export", "jsonl", "-o", "pages.jsonl").returncode == 0
    assert run_sumi("export", "jsonl", "--sections", "-o", "sections.jsonl").returncode == 0
    pages = {row["url"]: row for row in lines(tmp_path / "pages.jsonl")}
    assert len(pages) == PAGES
    start = pages[f"{site.url}guide/start.html"]
    assert f"[call]({site.url}api.html#calls)" in start["text"]
    assert f"({site.url}shot.png)" in start["text"]
    assert (start["title"], start["language"]) == ("Start here", "en")
    cut = [row for row in lines(tmp_path / "sections.jsonl") if row["url"] == start["url"]]
    assert "".join(row["text"] for row in cut) == start["text"]
    assert [row["heading"] for row in cut] == [section.heading for section in sections(start["text"])]
    assert cut[-1]["trail"] == ["Start here", "Next & last"]


def test_since_has_only_what_changed(
    run_sumi: RunSumi, site: FolderSite, mirrored: Path, tmp_path: Path
) -> None:
    before = datetime.now(UTC).isoformat()
    site.write("api.html", "<p>Another text altogether, with other words.</p>", "API: all")
    run_sumi("mirror", site.url, *FAST, "--assets", "--rewrite-links", "--update")
    done = run_sumi("export", "jsonl", "--since", before, "-o", "new.jsonl")
    assert done.returncode == 0, done.stderr
    assert [row["url"] for row in lines(tmp_path / "new.jsonl")] == [f"{site.url}api.html"]
    done = run_sumi("export", "jsonl", "--since", "2100-01-01", "-o", "none.jsonl")
    assert (done.returncode, "changed since 2100-01-01" in done.stderr) == (2, True)


def test_an_export_is_the_same_whenever_it_is_made(run_sumi: RunSumi, mirrored: Path, tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        assert run_sumi("export", "jsonl", "-o", name).returncode == 0
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
