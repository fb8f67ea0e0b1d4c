"""The dates in sitemaps are kept; where they contradict each other, there is none."""

from hypothesis import given
from hypothesis import strategies as st

from sumi.frontier import freshness
from sumi.frontier.freshness import ListedDates
from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.parse.sitemap.reader import latest_moment
from sumi.policy import Preset

SITEMAPS = st.lists(
    st.dictionaries(st.integers(0, 30).map("https://a.test/{}".format), st.sampled_from([1.0, 2.0])),
    max_size=12,
)


@given(SITEMAPS)
def test_a_page_has_the_date_on_which_all_sitemaps_agree(sitemaps: list[dict[str, float]]) -> None:
    dates, small = ListedDates(), freshness._SMALL
    for sitemap in sitemaps:
        dates.take(sitemap)
    assert len(dates._tables) <= 1 or small == 0
    for number in range(31):
        url = f"https://a.test/{number}"
        said = {sitemap[url] for sitemap in sitemaps if url in sitemap}
        assert dates.of(url) == (said.pop() if len(said) == 1 else None)


def test_a_million_dates_take_sixteen_megabytes_and_a_handful_of_tables() -> None:
    dates = ListedDates()
    for start in range(0, 100_000, 1000):
        dates.take({f"https://a.test/{number}": float(number) for number in range(start, start + 1000)})
    tables = dates._tables
    assert sum(table.keys.itemsize + table.dates.itemsize for table in tables) == 16 * len(tables)
    assert len(tables) <= 10
    assert all(dates.of(f"https://a.test/{number}") == number for number in range(0, 100_000, 997))


def test_a_sitemap_that_dates_a_page_twice_dates_it_not_at_all() -> None:
    entries = (("/a", "2024-01-02"), ("/b", "2024-01-02"), ("/b#x", "2024-01-03"), ("/c", ""), ("/d", "soon"))
    urls = "".join(
        f"<url><loc>https://a.test{path}</loc><lastmod>{date}</lastmod></url>" for path, date in entries
    )
    body = f"<urlset>{urls}</urlset>".encode()
    request = DigestRequest("https://a.test/s.xml", body, "", Kind.SITEMAP, Preset.MIRROR, dates=True)
    read = digest(request)
    assert isinstance(read, PageDigest)
    assert read.links == [f"https://a.test/{name}" for name in "abcd"]
    assert read.modified == {"https://a.test/a": latest_moment("2024-01-02")}


def test_a_time_without_a_zone_may_be_anywhere_on_earth() -> None:
    assert latest_moment("2024-01-02T03:04:05") == latest_moment("2024-01-02T03:04:05-12:00")
    assert latest_moment("2024-01-02T03:04:05Z") == latest_moment("2024-01-02T03:04:05+00:00")
