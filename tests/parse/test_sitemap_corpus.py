"""Sitemaps as attackers and careless programs write them: what can be used is, the rest is named."""

import gzip

import pytest

from sumi.parse.sitemap.reader import Sitemap, read_sitemap
from tests.corpora import hostile_sitemaps

BASE = "https://example.com/maps/sitemap.xml"
MIB = 1024 * 1024


def read(text: str, **limits: int) -> Sitemap:
    return read_sitemap(text.encode(), BASE, **limits)


def addresses(sitemap: Sitemap) -> list[str]:
    return [entry.url_raw for entry in sitemap.entries]


@pytest.mark.parametrize("name", sorted(hostile_sitemaps.ALL))
def test_nothing_hostile_becomes_an_entry(name: str) -> None:
    sitemap = read(hostile_sitemaps.ALL[name])
    assert addresses(sitemap) == []
    assert sitemap.children == []


# W3C's profile of ISO 8601, and what content management systems print instead.
DATES = [
    "2024",
    "2024-05",
    "2024-05-01",
    "2024-05-01T12:30Z",
    "2024-05-01T12:30:45Z",
    "2024-05-01T12:30:45.678+02:00",
    "2024-05-01 12:30:45",
    "20240501T123045Z",
    "Wed, 01 May 2024 12:30:45 GMT",
    "01/05/2024",
    "1714566645",
    "0000-00-00",
    "2024-13-45T99:99:99",
    "1. Mai 2024",
]


@pytest.mark.parametrize("date", DATES)
def test_a_date_in_any_form_is_kept_as_written_with_its_page(date: str) -> None:
    sitemap = read(f"<urlset><url><loc>/a</loc><lastmod>\n {date} </lastmod></url></urlset>")
    assert [(entry.url_raw, entry.lastmod) for entry in sitemap.entries] == [("https://example.com/a", date)]
    assert sitemap.problem == ""


@pytest.mark.parametrize("date", ["", " ", "x" * 1000, "\u202e2024"])
def test_a_date_that_cannot_be_one_costs_only_itself(date: str) -> None:
    sitemap = read(
        f"<urlset><url><loc>/a</loc><lastmod>{date}</lastmod></url><url><loc>/b</loc></url></urlset>"
    )
    assert addresses(sitemap) == ["https://example.com/a", "https://example.com/b"]
    assert all(len(entry.lastmod or "") <= 64 for entry in sitemap.entries)


LOCATIONS = {
    "https://example.com/a": "https://example.com/a",
    " \n https://example.com/a \t": "https://example.com/a",
    "/a": "https://example.com/a",
    "a": "https://example.com/maps/a",
    "//other.example/a": "https://other.example/a",
    "http://other.example/a": "http://other.example/a",
    "<![CDATA[https://example.com/?a&b]]>": "https://example.com/?a&b",
    "https://example.com/<![CDATA[a]]>b": "https://example.com/ab",
    "https://example.com/&#x61;&#98;&amp;": "https://example.com/ab&",
    "": None,
    "   ": None,
    "ftp://example.com/a": None,
    "file:///etc/passwd": None,
    "javascript:alert(1)": None,
    "data:text/html,x": None,
    "mailto:a@example.com": None,
}


@pytest.mark.parametrize("written", LOCATIONS)
def test_an_address_is_taken_if_it_can_be_requested(written: str) -> None:
    sitemap = read(f"<urlset><url><loc>{written}</loc></url><url><loc>/last</loc></url></urlset>")
    expected = [LOCATIONS[written], "https://example.com/last"]
    assert addresses(sitemap) == [url for url in expected if url is not None]
    assert bool(sitemap.problem) is (LOCATIONS[written] is None)


def packed(data: bytes, times: int = 1) -> bytes:
    for _ in range(times):
        data = gzip.compress(data, 1, mtime=0)
    return data


START = b"<urlset><url><loc>/a</loc></url>"


@pytest.mark.parametrize("layers", [1, 2])
def test_a_bomb_gives_what_came_first_and_is_stopped(layers: int) -> None:
    bomb = packed(START + b" " * (16 * MIB), layers)
    sitemap = read_sitemap(bomb, BASE, max_bytes=4 * MIB)
    assert addresses(sitemap) == ["https://example.com/a"]
    assert "limit" in sitemap.problem


def test_a_bomb_in_a_bomb_in_a_bomb_is_not_opened() -> None:
    sitemap = read_sitemap(packed(START + b" " * MIB, 3), BASE)
    assert addresses(sitemap) == []
    assert sitemap.problem


WHOLE = START + b"</urlset>"
WRAPPINGS = {
    "a member each": packed(START) + packed(b"</urlset>"),
    "an empty member between": packed(START) + packed(b"") + packed(b"</urlset>"),
    "zeros behind": packed(WHOLE) + bytes(512),
    "junk behind": packed(WHOLE) + b"<!-- cached -->",
    "cut short": packed(WHOLE + b"<!-- " + bytes(range(32, 127)) * 50 + b" -->")[:-20],
    "not packed at all": WHOLE,
    "packed twice": packed(WHOLE, 2),
}


@pytest.mark.parametrize("name", WRAPPINGS)
def test_however_it_is_wrapped_the_readable_part_is_used(name: str) -> None:
    assert addresses(read_sitemap(WRAPPINGS[name], BASE)) == ["https://example.com/a"]
