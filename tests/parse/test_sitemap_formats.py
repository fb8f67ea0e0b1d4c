"""Sitemaps in every form that sites publish give their pages, in order, absolute, with their dates."""

import pytest

from sumi.parse.sitemap.reader import Sitemap, read_sitemap, usual_places

BASE = "https://example.com/maps/sitemap.xml"
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def read(text: str | bytes) -> Sitemap:
    return read_sitemap(text.encode() if isinstance(text, str) else text, BASE)


def urls(text: str | bytes) -> list[str]:
    return [entry.url_raw for entry in read(text).entries]


def dated(text: str) -> list[tuple[str, str | None]]:
    return [(entry.url_raw, entry.lastmod) for entry in read(text).entries]


PAGE = "<url><loc>https://example.com/a</loc></url>"

URLSETS = [
    f'<?xml version="1.0" encoding="UTF-8"?><urlset {NAMESPACE}>{PAGE}</urlset>',
    f"<urlset>{PAGE}</urlset>",
    f'<urlset xmlns="http://www.google.com/schemas/sitemap/0.84">{PAGE}</urlset>',
    f'<urlset xmlns="of your own making">{PAGE}</urlset>',
    '<s:urlset xmlns:s="x"><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>',
    "<s:urlset><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>",
    f"<urlSet>{PAGE.replace('url>', 'URL>')}</urlSet>",
    f"\n\n  \t<?xml version='1.0'?>\n<urlset>{PAGE}</urlset>",
    f"\ufeff<?xml version='1.0'?><urlset>{PAGE}</urlset>",
    f"\ufeff\ufeff\n<urlset>{PAGE}</urlset>",
    f"<?xml version='1.1' encoding='x-unheard-of'?><urlset>{PAGE}</urlset>",
    f"<?xml version='1.0' encoding='utf-16'?><urlset>{PAGE}</urlset>",
    f"<?xml version='1.0' encoding='rot13'?><urlset>{PAGE}</urlset>",
    f"<?xml-stylesheet href='x.xsl'?><!-- made by hand --><urlset>{PAGE}</urlset>",
    f"Notice: something in line 3\n<?xml version='1.0'?><urlset>{PAGE}</urlset>",
    f"<urlset>{PAGE}</urlset>\n<!-- generated in 0.1 s -->",
    "<urlset><url><loc><![CDATA[https://example.com/a]]></loc></url></urlset>",
    "<urlset><url><loc>\n\t https://example.com/\n\t a\r\n</loc></url></urlset>".replace("\n\t a", "\n\ta"),
    "<urlset><url><loc>/a</loc></url></urlset>",
    "<urlset><url><loc>../a</loc></url></urlset>",
    "<urlset><url><loc>//example.com/a</loc></url></urlset>",
    f"<urlset>{PAGE}{PAGE}</urlset>",
    "<urlset><url><loc>https://example.com/a</loc><priority>x</priority>\x00\x08</url></urlset>",
]


@pytest.mark.parametrize("text", URLSETS)
def test_a_urlset_is_read_however_it_is_dressed(text: str) -> None:
    sitemap = read(text)
    assert [entry.url_raw for entry in sitemap.entries] == ["https://example.com/a"]
    assert (sitemap.format, sitemap.problem, sitemap.children) == ("urlset", "", [])


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-8", ""),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16"),
        ("utf-16-be", "utf-16"),
        ("utf-32", "utf-32"),
        ("latin-1", "ISO-8859-1"),
        ("cp1252", "windows-1252"),
        ("gb18030", "gb18030"),
    ],
)
def test_the_encoding_is_found_out(encoding: str, declared: str) -> None:
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    text = f"{declaration}<urlset><url><loc>https://example.com/é</loc></url></urlset>"
    assert urls(text.encode(encoding)) == ["https://example.com/é"]


AMPERSANDS = [
    ("?a=1&amp;b=2", "?a=1&b=2"),
    ("?a=1&b=2", "?a=1&b=2"),
    ("?a&amp&b&;&", "?a&amp&b&;&"),
    ("?a=1&copy=2&nbsp;x", "?a=1&copy=2&nbsp;x"),
    ("&#233;&#xE9;", "éé"),
    ("&#0;&#xD800;&#x110000;", "\ufffd\ufffd\ufffd"),
    ("&lt;&gt;&quot;&apos;", "<>\"'"),
    ("<![CDATA[?a&b&amp;c]]>&amp;d&e", "?a&b&amp;c&d&e"),
    ("<![CDATA[?a]]b]]]>", "?a]]b]"),
]


@pytest.mark.parametrize(("written", "meant"), AMPERSANDS)
def test_ampersands_escaped_or_not_are_understood(written: str, meant: str) -> None:
    assert urls(f"<urlset><url><loc>http://e.com/{written}</loc></url></urlset>") == [f"http://e.com/{meant}"]


def test_dates_are_kept_as_written_before_or_behind_the_address() -> None:
    sitemap = read(
        "<urlset><url><loc>/a</loc><lastmod> 2024-01-02 </lastmod></url>"
        "<url><lastmod>yesterday</lastmod><loc>/b</loc></url>"
        "<url><loc>/c</loc><lastmod/></url><url><loc>/a</loc></url></urlset>"
    )
    assert [entry.lastmod for entry in sitemap.entries] == ["2024-01-02", "yesterday", None]


EXTENDED = f"""<urlset {NAMESPACE} xmlns:image="i" xmlns:video="v" xmlns:news="n" xmlns:xhtml="h">
<url>
  <image:image><image:loc>/image.jpg</image:loc><loc>/never</loc></image:image>
  <loc>/page</loc>
  <image:loc>/stray.jpg</image:loc>
  <video:video><video:player_loc>/v</video:player_loc><video:content_loc>/w</video:content_loc></video:video>
  <news:news><news:publication_date>2020</news:publication_date></news:news>
  <mobile:mobile/>
  <xhtml:link rel="alternate" hreflang="de" href="/de/page"/>
  <xhtml:link rel="alternate" hreflang="fr" href="/fr/page"/>
  <xhtml:link rel="canonical" href="/never"/>
  <PageMap><DataObject><loc>/never</loc></DataObject></PageMap>
  <lastmod>2024</lastmod>
</url>
<url><loc>/de/page</loc><lastmod>2023</lastmod></url>
</urlset>"""


def test_extensions_do_not_disturb_and_alternates_are_pages_too() -> None:
    assert dated(EXTENDED) == [
        ("https://example.com/page", "2024"),
        ("https://example.com/de/page", "2023"),
        ("https://example.com/fr/page", None),
    ]


def test_an_index_names_other_sitemaps() -> None:
    sitemap = read(
        f"<sitemapindex {NAMESPACE}><sitemap><loc>a.xml.gz</loc><lastmod>2024</lastmod></sitemap>"
        "<sitemap><loc>https://other.example/b.xml?x=1&y=2</loc></sitemap></sitemapindex>"
    )
    assert sitemap.children == ["https://example.com/maps/a.xml.gz", "https://other.example/b.xml?x=1&y=2"]
    assert (sitemap.entries, sitemap.format, sitemap.problem) == ([], "sitemapindex", "")


def test_pages_in_an_index_and_sitemaps_in_a_list_are_told_apart() -> None:
    sitemap = read("<urlset><url><loc>/a</loc></url><sitemap><loc>/b.xml</loc></sitemap></urlset>")
    assert [entry.url_raw for entry in sitemap.entries] == ["https://example.com/a"]
    assert sitemap.children == ["https://example.com/b.xml"]


RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<link>https://example.com/</link><atom:link href="https://example.com/feed" rel="self"/>
<image><url>/logo.png</url><link>/home</link></image>
<item><title>1</title><link>https://example.com/1</link><guid isPermaLink="true">https://example.com/g</guid>
<pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate></item>
<item><guid>https://example.com/only-guid</guid></item>
<item><link><![CDATA[ /2 ]]></link></item></channel></rss>"""


def test_an_rss_feed_lists_the_links_of_its_items() -> None:
    sitemap = read(RSS)
    assert [(entry.url_raw, entry.lastmod) for entry in sitemap.entries] == [
        ("https://example.com/1", "Mon, 01 Jan 2024 00:00:00 GMT"),
        ("https://example.com/only-guid", None),
        ("https://example.com/2", None),
    ]
    assert (sitemap.format, sitemap.problem) == ("rss", "")


def test_rss_1_is_a_feed_too() -> None:
    items = "<item><link>/1</link><dc:date>2024</dc:date></item>"
    text = f"<rdf:RDF><channel><link>/</link></channel>{items}</rdf:RDF>"
    assert dated(text) == [("https://example.com/1", "2024")]


@pytest.mark.parametrize("date", ["updated", "modified"])
def test_an_atom_feed_lists_the_pages_of_its_entries(date: str) -> None:
    sitemap = read(
        '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/>'
        '<entry><link rel="self" href="/self"/><link rel="enclosure" href="/x.mp3"/>'
        f'<link rel="alternate" href="/1"/><{date}>2024</{date}><source><link href="/no"/></source></entry>'
        f'<entry><{date}>2023</{date}><link href="https://example.com/2?a&amp;b"/></entry></feed>'
    )
    assert [(entry.url_raw, entry.lastmod) for entry in sitemap.entries] == [
        ("https://example.com/1", "2024"),
        ("https://example.com/2?a&b", "2023"),
    ]
    assert (sitemap.format, sitemap.problem) == ("atom", "")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_plain_text_has_one_url_per_line(encoding: str, end: str) -> None:
    lines = [
        "https://example.com/1",
        "",
        "  HTTP://example.com/2?a&b ",
        "# a remark",
        "https://example.com/é",
    ]
    sitemap = read(end.join(lines).encode(encoding))
    assert [entry.url_raw for entry in sitemap.entries] == [
        "https://example.com/1",
        "HTTP://example.com/2?a&b",
        "https://example.com/é",
    ]
    assert (sitemap.format, sitemap.problem) == ("text", "")


def test_lines_that_are_no_url_are_passed_over_and_counted() -> None:
    lines = [
        "https://example.com/1",
        "not a url",
        "page.html",
        "ftp://example.com/",
        "// x",
        "/*",
        "*/",
        "other.org/x",
    ]
    sitemap = read("\n".join(lines))
    assert [entry.url_raw for entry in sitemap.entries] == ["https://example.com/1"]
    assert sitemap.problem == "lines that are not http(s) URLs, left out: 7"


def test_a_host_that_only_ends_like_this_site_is_not_of_it() -> None:
    sitemap = read("https://example.com/\ndocs.example.com/a\nnotexample.com/b")
    assert [entry.url_raw for entry in sitemap.entries] == [
        "https://example.com/",
        "https://docs.example.com/a",
    ]
    assert sitemap.problem == "lines that are not http(s) URLs, left out: 1"


def test_lines_without_a_scheme_are_taken_where_they_can_mean_one_thing_only() -> None:
    sitemap = read("example.com/page\n/rooted\nWWW.example.com/a?b=c\ndocs.example.com\n/\n")
    assert [entry.url_raw for entry in sitemap.entries] == [
        "https://example.com/page",
        "https://example.com/rooted",
        "https://WWW.example.com/a?b=c",
        "https://docs.example.com",
        "https://example.com/",
    ]
    assert (sitemap.format, sitemap.problem) == ("text", "")


def test_an_address_that_stands_in_its_entry_without_an_element_is_taken() -> None:
    body = "<sitemapindex><sitemap> https://example.com/a.xml\n</sitemap><sitemap>/b.xml</sitemap></sitemapindex>"
    assert read(body).children == ["https://example.com/a.xml", "https://example.com/b.xml"]
    bare = "<url>https://example.com/a<lastmod>2024-01-01</lastmod></url>"
    sitemap = read(f"<urlset>{bare}<url><loc>/b</loc> x</url></urlset>")
    assert [entry.url_raw for entry in sitemap.entries] == ["https://example.com/a", "https://example.com/b"]
    assert sitemap.problem == ""


# What a feed's item or entry says, and the page that it means; None: it is counted as one without an address.
ITEMS = {
    "<guid>https://example.com/a</guid>": "https://example.com/a",
    '<guid isPermaLink="true">https://example.com/a</guid>': "https://example.com/a",
    '<guid isPermaLink="false">https://example.com/a</guid>': None,
    "<guid>4711</guid>": None,
    "<title>nothing else</title>": None,
    "<guid>https://example.com/g</guid><link>/a</link>": "https://example.com/a",
    "": None,
}
ENTRIES = {
    "<id>https://example.com/a</id>": "https://example.com/a",
    "<id>tag:example.com,2024:a</id>": None,
    '<id>https://example.com/g</id><link href="/a"/>': "https://example.com/a",
    '<link href="/a"/><id>https://example.com/g</id>': "https://example.com/a",
    '<id>https://example.com/a</id><link rel="enclosure" href="/x.mp3"/>': "https://example.com/a",
}


@pytest.mark.parametrize(
    ("body", "page"),
    [(f"<rss><channel><item>{said}</item></channel></rss>", page) for said, page in ITEMS.items()]
    + [(f"<feed><entry>{said}</entry></feed>", page) for said, page in ENTRIES.items()],
)
def test_an_entry_of_a_feed_without_a_link_is_known_by_its_name_or_counted(
    body: str, page: str | None
) -> None:
    sitemap = read(body)
    assert [entry.url_raw for entry in sitemap.entries] == [page] * (page is not None)
    assert sitemap.problem == ("" if page else "entries without an http(s) address, left out: 1")


def test_entries_without_a_usable_address_are_passed_over_and_counted() -> None:
    bad = "".join(
        f"<url><loc>{loc}</loc></url>" for loc in ("", " ", "mailto:a@b", "javascript:x", "//[", "ftp://a/")
    )
    sitemap = read(f"<urlset>{bad}{PAGE}<url></url></urlset>")
    assert [entry.url_raw for entry in sitemap.entries] == ["https://example.com/a"]
    assert sitemap.problem == "entries without an http(s) address, left out: 7"


@pytest.mark.parametrize(("length", "kept"), [(2048, True), (8192, True), (8193, False)])
@pytest.mark.parametrize("form", ["<urlset><url><loc>{}</loc></url></urlset>", "{}\n"])
def test_addresses_are_kept_up_to_8192_characters(form: str, length: int, kept: bool) -> None:
    address = "https://example.com/".ljust(length, "x")
    sitemap = read(form.format(address))
    assert [entry.url_raw for entry in sitemap.entries] == ([address] if kept else [])
    assert sitemap.problem == ("" if kept else "addresses over 8,192 characters, left out: 1")


def test_the_usual_places_are_few_and_on_the_same_host() -> None:
    places = usual_places("https://example.com")
    assert places == usual_places("https://example.com/")
    assert places[0] == "https://example.com/sitemap.xml"
    assert len(places) == len(set(places)) <= 6
    assert all(place.startswith("https://example.com/sitemap") for place in places)
