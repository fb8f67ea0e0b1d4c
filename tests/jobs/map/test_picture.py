"""The picture of a map is one file without requests or foreign scripts, and nothing in it overlaps."""

import base64
import hashlib
import io
import math
import re
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from sumi.jobs.map.database import open_database
from sumi.jobs.map.graph import Level
from sumi.jobs.map.layout import Circle, area_radius, dots, lay_out, pack
from sumi.jobs.map.picture import select, write_picture
from tests.made_maps import SMALL, SMALL_LINKS, Page, make_map, small_map

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)><!-- \u202e \u2028 \0 ]]>"


def picture(path: Path, level: Level = Level.PAGE) -> str:
    file = io.BytesIO()
    with open_database(path) as db:
        write_picture(db, level, file)
    return file.getvalue().decode()


def data_of(html: str) -> Any:
    found = re.search(r'<script id="map-data" type="application/json">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return msgspec.json.decode(found[1])


def test_every_domain_page_and_link_is_in_it(tmp_path: Path) -> None:
    data = data_of(picture(small_map(tmp_path)))
    assert {row[0]: row[1] for row in data["domains"]} == {
        "good.test": "quality",
        "near.test": "discovered",
        "slow.test": "discovered",
        "dark.test": "discovered",
        "ads.test": "blacklisted",
        "wiki.test": "stubbed",
    }
    # How far away: drawn as a colour. Null where nothing was visited.
    depths = {row[0]: row[7] for row in data["domains"]}
    assert (depths["good.test"], depths["near.test"], depths["dark.test"]) == (0, 1, 2)
    assert {row[0] for row in data["pages"]} == {page.url for page in SMALL}
    ends = [data["pages"][number][0] for number in data["links"]]
    assert set(zip(ends[::2], ends[1::2], strict=True)) == {
        (SMALL[source].url, SMALL[target].url) for source, target in SMALL_LINKS
    }
    for _, _, _, domain, x, y, _ in data["pages"]:
        _, _, _, left, top, radius, *_ = data["domains"][domain]
        assert math.hypot(x - left, y - top) <= radius
    domains_only = data_of(picture(tmp_path / "map.db", Level.DOMAIN))
    assert domains_only["pages"] == []
    assert len(domains_only["domains"]) == 6
    assert domains_only["roads"]


def test_the_file_makes_no_requests_and_runs_only_its_own_script(tmp_path: Path) -> None:
    pages = [Page("https://good.test/" + EVIL, title=EVIL, depth=0)]
    html = picture(make_map(tmp_path / "map.db", pages))
    # One element has the data, one the script, whatever a title contains.
    assert len(re.findall("<script", html)) == len(re.findall("</script", html)) == 2
    assert "<img" not in html
    script = html.rpartition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)
    assert policy is not None
    assert f"default-src 'none'; script-src 'sha256-{digest}';" in policy[1]
    assert not re.search(r"innerHTML|insertAdjacent|document\.write|eval\(|fetch\(|https?://", script)
    assert re.findall(r'(?:src|href)="', html.replace(script, "")) == []
    assert data_of(html)["pages"][0][1] == EVIL


@given(st.lists(st.floats(0.5, 300), max_size=80))
def test_packed_circles_never_overlap(radii: list[float]) -> None:
    circles = pack(radii)
    assert [circle.r for circle in circles] == radii
    _assert_apart(circles)


@given(st.lists(st.tuples(st.integers(1, 400), st.integers(0, 5)), min_size=1, max_size=40))
def test_areas_never_overlap_and_hold_their_pages(domains: list[tuple[int, int]]) -> None:
    areas = lay_out([area_radius(pages) for pages, _ in domains], [community for _, community in domains])
    _assert_apart(areas)
    for area, (pages, _) in zip(areas, domains, strict=True):
        assert all(math.hypot(x - area.x, y - area.y) < area.r for x, y in dots(area, pages))


def _assert_apart(circles: list[Circle]) -> None:
    for number, one in enumerate(circles):
        for other in circles[:number]:
            assert math.hypot(one.x - other.x, one.y - other.y) >= one.r + other.r - 1e-3


@given(st.lists(st.integers(0, 6), max_size=80), st.integers(1, 40))
def test_every_domain_of_a_large_map_shows_its_most_linked_pages(domain_of: list[int], most: int) -> None:
    linked = [number * 7 % 11 for number in range(len(domain_of))]
    count = max(domain_of, default=-1) + 1
    chosen = select(domain_of, count, linked, most)
    assert sum(map(len, chosen.pages)) <= max(most, len(chosen.domains))
    assert len(chosen.domains) == min(count, most)
    for domain, pages in zip(chosen.domains, chosen.pages, strict=True):
        own = sorted((linked[page] for page, home in enumerate(domain_of) if home == domain), reverse=True)
        assert [linked[page] for page in pages] == own[: len(pages)]
        assert pages or not own
