"""Sitemaps that attack their reader, or are only half there."""

from tests.site.bad_coding import gzip_repeated
from tests.site.sitemaps import NAMESPACE, XML, index, urlset
from tests.site.wire import Asked, Handler, Reply, page

BOMB_MEBIBYTES = 160  # beyond the most that a lenient reader takes of one file


def _entry(asked: Asked) -> str:
    return f"{asked.origin}/bad/plain"


def sitemap_bomb(asked: Asked) -> Reply:
    """One entry, then 160 MiB of line ends, gzipped."""
    start = urlset([_entry(asked)]).removesuffix(b"</urlset>\n")
    return Reply(200, gzip_repeated(start, b"\n" * (1 << 20), BOMB_MEBIBYTES), "application/gzip")


def sitemap_xxe(asked: Asked) -> Reply:
    """An external entity that would read a local file into an entry."""
    doctype = '<!DOCTYPE urlset [<!ENTITY secret SYSTEM "file:///etc/hostname">]>'
    entry = f"<url><loc>{_entry(asked)}?leak=&secret;</loc></url>"
    return Reply(200, f'<?xml version="1.0"?>{doctype}<urlset {NAMESPACE}>{entry}</urlset>'.encode(), XML)


def sitemap_laughs(asked: Asked) -> Reply:
    """Entities that multiply to a billion."""
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    doctype = f'<!DOCTYPE urlset [<!ENTITY e0 "lol">{levels}]>'
    entry = f"<url><loc>{_entry(asked)}?x=&e9;</loc></url>"
    return Reply(200, f'<?xml version="1.0"?>{doctype}<urlset {NAMESPACE}>{entry}</urlset>'.encode(), XML)


def sitemap_broken(asked: Asked) -> Reply:
    """Two good entries, then the file breaks off within a tag."""
    whole = urlset([_entry(asked), f"{_entry(asked)}?n=2", f"{_entry(asked)}?n=3"])
    return Reply(200, whole[: whole.rindex(b"?n=3") - 20], XML)


def sitemap_self(asked: Asked) -> Reply:
    """An index that names itself, and one part."""
    return Reply(200, index([f"{asked.origin}{asked.path}", f"{asked.origin}/bad/sitemap-broken.xml"]), XML)


def sitemap_endless(asked: Asked) -> Reply:
    """Indexes of indexes, each naming one that nobody has seen."""
    step = int(asked.query.get("step", "0")) + 1
    return Reply(200, index([f"{asked.origin}{asked.path}?step={step}"]), XML)


def sitemap_offsite(asked: Asked) -> Reply:
    """Entries of other hosts and schemes beside one of this site."""
    strange = ("https://elsewhere.example/a", "http://169.254.169.254/", "file:///etc/passwd")
    return Reply(200, urlset([_entry(asked), *strange, "/bad/plain?relative"]), XML)


def sitemap_html(_asked: Asked) -> Reply:
    """An HTML page where a sitemap should be, with 200."""
    return Reply(200, page("Page not found"))


ROUTES: dict[str, Handler] = {
    "sitemap-bomb.xml.gz": sitemap_bomb,
    "sitemap-xxe.xml": sitemap_xxe,
    "sitemap-laughs.xml": sitemap_laughs,
    "sitemap-broken.xml": sitemap_broken,
    "sitemap-self.xml": sitemap_self,
    "sitemap-endless.xml": sitemap_endless,
    "sitemap-offsite.xml": sitemap_offsite,
    "sitemap-html.xml": sitemap_html,
}
