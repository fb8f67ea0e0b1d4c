"""A picture of a map's domains: rings by distance, every chosen domain named, no name on another."""

import csv
import io
import math
import random
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from sumi.errors import UsageError
from sumi.jobs.map import export
from sumi.jobs.map.drawing import arranged, entry_of, shortened, svg_lines, write_page, write_png, write_svg
from sumi.jobs.map.graph import DOMAIN_COLUMNS, Graph, Link, Row
from tests.commands import RunSumi
from tests.e2e.map.map_site import Page, running_web

SVG = "{http://www.w3.org/2000/svg}"


def graph(count: int, chosen: int = 2, seed: int = 1) -> Graph:
    chance = random.Random(seed)
    rows: list[Row] = []
    links: list[Link] = []
    for number in range(count):
        kind = (
            "quality" if number < chosen else chance.choice(["discovered"] * 8 + ["stubbed", "blacklisted"])
        )
        depth = 0 if number < chosen else None if kind != "discovered" else chance.choice([1, 1, 2, 3])
        rows.append((f"www{number % 7}.name{number // 7}.org", kind, chance.randint(1, 500), 1, depth))
        links += [(chance.randrange(count), number, chance.randint(1, 9)) for _ in range(2)]
    return Graph(DOMAIN_COLUMNS, count, lambda: iter(rows), lambda: iter(links), weighted=True)


def test_arrows_lead_from_circle_to_circle_bent_a_little() -> None:
    drawing = arranged(graph(40))
    paths = re.findall(r'<path d="M(\S+) (\S+)Q(\S+) (\S+) (\S+) (\S+)"', "\n".join(svg_lines(drawing)))
    assert paths
    for x, y, bx, by, ex, ey in (map(float, path) for path in paths):
        assert any(math.hypot(spot.x - x, spot.y - y) < 0.2 for spot in drawing.spots)
        assert any(
            abs(math.hypot(spot.x - ex, spot.y - ey) - spot.r - 2) < 0.2
            and math.hypot((x + spot.x) / 2 - bx, (y + spot.y) / 2 - by)
            == pytest.approx(math.hypot(spot.x - x, spot.y - y) / 10, abs=0.2)
            for spot in drawing.spots
        )


@pytest.mark.parametrize(
    ("count", "chosen"), [(0, 0), (1, 1), (3, 3), (20, 2), (200, 9), (3000, 12), (60, 60)]
)
def test_no_circle_covers_another_and_every_chosen_domain_is_named(count: int, chosen: int) -> None:
    drawing = arranged(graph(count, chosen))
    spots = sorted(drawing.spots, key=lambda spot: spot.x)
    for at, one in enumerate(spots):
        for other in spots[at + 1 : at + 60]:
            if other.x - one.x > one.r + other.r:
                break
            assert math.hypot(one.x - other.x, one.y - other.y) >= (one.r + other.r) * 0.98
    assert all(spot.room for spot in drawing.spots if spot.kind == "quality")
    ends = [math.hypot(spot.x, spot.y) + spot.r + spot.room for spot in drawing.spots]
    assert all(end <= drawing.radius for end in ends), "a name is cut by the edge"
    names = [node.text for node in ET.fromstring("\n".join(svg_lines(drawing))).iter(f"{SVG}text")]
    assert {spot.name for spot in drawing.spots if spot.kind == "quality" and len(spot.name) < 30} <= set(
        names
    )


def test_farther_domains_are_farther_out_and_names_of_a_ring_do_not_meet() -> None:
    drawing = arranged(graph(900, 8))
    for ring in (1, 2, 3):
        inner = [math.hypot(spot.x, spot.y) for spot in drawing.spots if spot.ring == ring - 1]
        outer = [math.hypot(spot.x, spot.y) for spot in drawing.spots if spot.ring == ring]
        assert max(inner) < min(outer)
        named = sorted(spot.angle for spot in drawing.spots if spot.ring == ring and spot.room)
        assert all((after - before) * max(outer) > 10 for before, after in pairwise(named))


def test_names_of_the_chosen_domains_end_before_the_first_ring() -> None:
    for chosen in (2, 6, 12, 30):
        drawing = arranged(graph(300, chosen))
        ends = [math.hypot(spot.x, spot.y) + spot.r for spot in drawing.spots if spot.ring == 0]
        rooms = [spot.room for spot in drawing.spots if spot.ring == 0]
        nearest = min(math.hypot(spot.x, spot.y) for spot in drawing.spots if spot.ring == 1)
        assert max(map(sum, zip(ends, rooms, strict=True))) < nearest


def test_subdomains_of_one_name_are_side_by_side() -> None:
    drawing = arranged(graph(100, 2))
    ring = sorted((spot for spot in drawing.spots if spot.ring == 1), key=lambda spot: spot.angle)
    runs = 1 + sum(entry_of(a.name) != entry_of(b.name) for a, b in pairwise(ring))
    assert runs == len({entry_of(spot.name) for spot in ring})


@pytest.mark.parametrize(
    ("domain", "entry"),
    [
        ("docs.example.org", "example.org"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("example.org", "example.org"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
    ],
)
def test_what_subdomains_share(domain: str, entry: str) -> None:
    assert entry_of(domain) == entry


def test_names_with_a_common_beginning_stay_apart_when_they_are_cut() -> None:
    names = [f"a-very-long-common-beginning-{number:02}.org" for number in range(20)]
    cut = {shortened(name, 22) for name in names}
    assert len(cut) == 20
    assert all(len(name) <= 22 for name in cut)


def test_hostile_names_are_text() -> None:
    rows: list[Row] = [('<script>"&\x00', "quality", 1, 1, 0)]
    made = Graph(DOMAIN_COLUMNS, 1, lambda: iter(rows), lambda: iter(()), weighted=True)
    for write in (write_svg, write_page):
        file = io.BytesIO()
        write(arranged(made), file)
        assert b"<script>&quot;" not in file.getvalue()
        assert b"&lt;script&gt;" in file.getvalue()


def test_a_png_is_made_where_resvg_is_and_said_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("resvg_py")
    file = io.BytesIO()
    write_png(arranged(graph(20)), file)
    assert file.getvalue().startswith(b"\x89PNG")
    monkeypatch.setitem(__import__("sys").modules, "resvg_py", None)
    with pytest.raises(UsageError, match="a PNG needs resvg"):
        write_png(arranged(graph(20)), io.BytesIO())


def test_every_format_is_written_from_a_map(
    run_sumi: RunSumi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {
        "good.test/": Page(("/a", "far.test/")),
        "good.test/a": Page(("/",)),
        "far.test/": Page(),
    }
    with running_web(pages, tmp_path, tls=False) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}))
        assert run_sumi("map", config).returncode == 0
    for form in ("svg", "csv", "html"):
        assert run_sumi("map", "export", "--format", form, config, "-o", f"out.{form}").returncode == 0
    assert "good.test" in (tmp_path / "out.svg").read_text()
    with (tmp_path / "out-nodes.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 3
    assert export._csv_line(["=1+1", "a,b", 7]) == '\'=1+1,"a,b",7'
    with (tmp_path / "out-links.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 3
    monkeypatch.setattr(export, "_can_arrange_pages", lambda: False)
    (plain,) = export.export_map(tmp_path / "map.db", "html", tmp_path / "plain.html")
    assert "<svg" in plain.read_text()
    assert "Content-Security-Policy" in plain.read_text()
    assert run_sumi("map", "export", "--format", "svg", "--level", "page", config).returncode == 2
