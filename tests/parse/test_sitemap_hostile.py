"""Whatever a server sends as a sitemap: reading ends, raises nothing, keeps what came before the damage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.parse.sitemap.reader import Sitemap, SitemapReader, read_sitemap

BASE = "https://example.com/sitemap.xml"


def page(number: int) -> str:
    return f"<url><loc>https://example.com/{number}?a=1&amp;b=2</loc><lastmod>2024-01-0{number}</lastmod></url>\n"


PAGES = "".join(map(page, range(1, 6)))
VALID = f"<?xml version='1.0' encoding='utf-8'?>\n<urlset>\n{PAGES}</urlset>".encode()
RSS = b"<rss><item><link>/1</link></item><item><link>/2</link><pubDate>x</pubDate></item></rss>"
ATOM = b"<feed><entry><link href='/1'/><updated>x</updated></entry><entry><link href='/2'/></entry></feed>"
CDATA = b"<urlset><url><loc><![CDATA[http://e.com/?a&b]]></loc></url>&<url><loc>/?a&b</loc></url></urlset>"
TEXT = b"http://e.com/1\nhttp://e.com/2\r\nsomething else\nhttps://e.com/3"
SAMPLES = [VALID, RSS, ATOM, CDATA, TEXT, VALID.decode().encode("utf-16")]


def urls(sitemap: Sitemap) -> list[str]:
    return [entry.url_raw for entry in sitemap.entries]


def read_in_pieces(body: bytes, size: int) -> Sitemap:
    reader = SitemapReader(BASE)
    for start in range(0, len(body), size):
        reader.feed(body[start : start + size])
    return reader.close()


@pytest.mark.parametrize("length", range(len(VALID)))
def test_cut_anywhere_the_pages_before_the_cut_are_kept(length: int) -> None:
    whole, cut = read_sitemap(VALID, BASE), read_sitemap(VALID[:length], BASE)
    complete = VALID[:length].count(b"</loc>")
    assert urls(cut) == urls(whole)[:complete]
    assert cut.problem


def test_bare_ampersands_do_not_hide_what_follows() -> None:
    assert urls(read_sitemap(VALID.replace(b"&amp;", b"&"), BASE)) == urls(read_sitemap(VALID, BASE))


@pytest.mark.parametrize(
    "damage", [b"</wrong>", b"<a b=c>", b"<a b='1' b='2'/>", b"<", b"</urlset></urlset>"]
)
def test_broken_xml_costs_only_what_follows_and_says_so(damage: bytes) -> None:
    body = VALID.replace(page(3).encode(), damage + page(3).encode())
    sitemap = read_sitemap(body, BASE)
    assert urls(sitemap) == urls(read_sitemap(VALID, BASE))[:2]
    assert "broken" in sitemap.problem
    assert "line 5" in sitemap.problem


DOCTYPES = [
    b'<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>',
    b'<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    b'<!DOCTYPE urlset [<!ENTITY % x SYSTEM "http://localhost:1/x.dtd"> %x;]>',
    b'<!DOCTYPE urlset SYSTEM "http://localhost:1/sitemap.dtd">',
    b'<!DOCTYPE urlset PUBLIC "-//X//DTD//EN" "x.dtd">',
    b"<!DOCTYPE urlset>",
]


@pytest.mark.parametrize("doctype", DOCTYPES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_doctype_is_refused_with_the_whole_file(doctype: bytes, encoding: str) -> None:
    body = VALID.replace(b"<urlset>", doctype + b"<urlset><url><loc>http://e.com/&b;&x;</loc></url>")
    sitemap = read_sitemap(body.decode().encode(encoding), BASE)
    assert sitemap.entries == []
    assert "DOCTYPE" in sitemap.problem


def test_entities_and_inclusions_are_text_and_nothing_else() -> None:
    include = (
        '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd" parse="text"/>'
    )
    body = f"<urlset><url><loc>http://e.com/&x;{include}</loc></url></urlset>"
    assert urls(read_sitemap(body.encode(), BASE)) == ["http://e.com/&x;"]


HTML = [
    b"<!DOCTYPE html>\n<html><body>Not found & gone",
    b"<!doctype HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'><p>",
    b"<html lang=en><head>",
    b"\n <HEAD><title>x</title>",
    b"<!-- cached --> <html><a href=/x>",
    b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "x.dtd"><html/>',
    b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><url><loc>/x</loc></url></body></html>',
]


@pytest.mark.parametrize("body", HTML)
def test_a_web_page_is_no_sitemap(body: bytes) -> None:
    assert read_sitemap(body, BASE) == Sitemap([], [], "an HTML page, not a sitemap", "html", cut=True)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "an empty file"),
        (b" \r\n\t" * 1000, "an empty file"),
        (b'{"urls": []}', "not a sitemap: neither XML nor a list of URLs"),
        (b"Not found", "not a sitemap: neither XML nor a list of URLs"),
        (b"<opml><url><loc>http://e.com/</loc></url></opml>", "not a sitemap: its root element is 'opml'"),
    ],
)
def test_what_is_no_sitemap_is_named(body: bytes, problem: str) -> None:
    sitemap = read_sitemap(body, BASE)
    assert (sitemap.entries, sitemap.children, sitemap.problem) == ([], [], problem)


MEBIBYTE = 1024 * 1024
FLOODS = [
    (b"<urlset>" + b"<a>" * MEBIBYTE, "nested"),
    (b"<urlset><a b='" + b"x" * MEBIBYTE, "tag or comment"),
    (b"<urlset><!--" + b"x" * MEBIBYTE, "tag or comment"),
    (b"<urlset>" + b"".join(b"<a%d/>" % number for number in range(50_000)), "different names"),
    (b"<urlset><url " + b"".join(b"a%d='' " % number for number in range(50_000)) + b"/>", "tag or comment"),
    (b"<urlset><url><loc>" + b"x" * MEBIBYTE, "ends early"),
    (b"<urlset>" + b"&" * MEBIBYTE, "ends early"),
    (b"<urlset>" + b" " * 4 * MEBIBYTE, "ends early"),
    (b"<urlset>" + b"<![CDATA[" * MEBIBYTE, "ends early"),
    (b"<urlset><![CDATA[" + b"]" * MEBIBYTE, "ends early"),
    (b"<" * MEBIBYTE, "broken"),
    (b"<?xml " + b" " * MEBIBYTE, "tag or comment"),
    (b"<!--" * MEBIBYTE, ""),
    (b"http://e.com/" + b"x" * MEBIBYTE, "8,192"),
    (b"\n" * MEBIBYTE + b"\0" * MEBIBYTE, "neither"),
    (b"<feed><entry>" + b"<link href='/a'/><updated>1</updated>" * 20_000, "ends early"),
]


@pytest.mark.parametrize(("flood", "problem"), FLOODS, ids=range(len(FLOODS)))
def test_floods_end_with_a_reason(flood: bytes, problem: str) -> None:
    sitemap = read_sitemap(flood, BASE)
    assert problem in sitemap.problem
    assert sitemap.problem
    assert len(sitemap.entries) <= 1


def listing(count: int) -> bytes:
    return b"\n".join(b"http://e.com/%d" % number for number in range(count))


def test_more_than_the_format_allows_is_taken_with_a_remark() -> None:
    assert read_sitemap(listing(50_000), BASE).problem == ""
    beyond = read_sitemap(listing(50_001), BASE)
    assert len(beyond.entries) == 50_001
    assert beyond.problem == "it lists more than 50,000 addresses, the format's limit"


def test_reading_stops_at_the_limit_of_entries() -> None:
    sitemap = read_sitemap(listing(50), BASE, max_entries=7)
    assert urls(sitemap) == [f"http://e.com/{number}" for number in range(7)]
    assert sitemap.problem == "it was read up to the limit of 7 addresses"
    assert read_sitemap(listing(7), BASE, max_entries=7).problem == ""


def test_reading_stops_at_the_limit_of_children() -> None:
    index = b"".join(b"<sitemap><loc>/%d.xml</loc></sitemap>" % number for number in range(5))
    sitemap = read_sitemap(b"<sitemapindex>" + index + b"</sitemapindex>", BASE, max_entries=3)
    assert len(sitemap.children) == 3
    assert sitemap.problem == "it was read up to the limit of 3 addresses"


@pytest.mark.parametrize("short_by", [0, 1, 20])
def test_reading_stops_at_the_limit_of_bytes(short_by: int) -> None:
    sitemap = read_sitemap(VALID, BASE, max_bytes=len(VALID) - short_by)
    assert ("limit" in sitemap.problem) is (short_by > 0)
    assert len(sitemap.entries) == 5


def test_fifty_mebibytes_are_taken_and_one_byte_more_is_told() -> None:
    blank = b" " * MEBIBYTE
    for more, remark in ((b"", ""), (b" ", "it was read up to the limit of 52,428,800 bytes")):
        reader = SitemapReader(BASE)
        reader.feed(VALID.ljust(MEBIBYTE))
        for _ in range(49):
            reader.feed(blank)
        reader.feed(more)
        sitemap = reader.close()
        assert (len(sitemap.entries), sitemap.problem, sitemap.cut) == (5, remark, bool(more))


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_the_size_of_the_pieces_does_not_matter(sample: bytes, size: int) -> None:
    long_enough_to_stream = sample + (b"" if sample[:1] == b"\xff" else b"\n" * 1500)
    whole = read_sitemap(long_enough_to_stream, BASE)
    assert whole.entries
    assert read_in_pieces(long_enough_to_stream, size) == whole


@given(st.sampled_from(SAMPLES), st.data())
def test_changed_bytes_never_raise(sample: bytes, data: st.DataObject) -> None:
    body = bytearray(sample)
    for _ in range(data.draw(st.integers(1, 5))):
        position = data.draw(st.integers(0, len(body)))
        body[position : position + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    sitemap = read_sitemap(bytes(body), BASE)
    for entry in sitemap.entries:
        assert entry.url_raw.lower().startswith(("http://", "https://"))
        entry.url_raw.encode()


tokens = st.sampled_from(
    "<urlset> <url> <loc> </loc> </url> <feed> <entry> <link_href='/b'/> </entry> /a & &amp; ; # "
    "x http://e.com/ <![CDATA[ ] ]]> <?xml_ ?> <!-- --> < > _".replace("_", "\t").split(" ")
)


@given(st.lists(tokens, max_size=30).map("".join), st.integers(1, 9))
def test_odd_markup_never_raises_and_pieces_do_not_matter(text: str, size: int) -> None:
    body = text.encode().ljust(1100)
    assert read_in_pieces(body, size) == read_sitemap(body, BASE)


@given(st.binary(max_size=200), st.text(max_size=20))
def test_any_bytes_from_anywhere_are_read(body: bytes, base: str) -> None:
    for raw in (body, b"<urlset><url><loc>" + body + b"</loc></url></urlset>", b"http://" + body):
        assert isinstance(read_sitemap(raw, base), Sitemap)
