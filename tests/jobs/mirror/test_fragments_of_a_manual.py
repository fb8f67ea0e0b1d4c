"""With --rewrite-links every link between the pages of a real manual leads to a place that is there."""

import posixpath
from pathlib import Path
from urllib.parse import unquote

import pytest

from sumi.jobs.mirror.local_links import LocalLinks
from sumi.jobs.mirror.markdown_page import HEAD_END
from sumi.model import Hop, Kind, PageFacts
from sumi.outcomes import Outcome
from sumi.parse.markdown.link_targets import targets_of
from sumi.parse.markdown.slugs import places_in
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest_page
from sumi.policy import Preset
from sumi.ports import UrlRecord
from sumi.urls.paths import digest_of, page_path

MANUALS = {
    # package -> folder, pages, and at least so many links to places
    "postgresql-doc-15": ("/usr/share/doc/postgresql-doc-15/html", "*.html", 6_000),
    "python3.11-doc": ("/usr/share/doc/python3.11/html", "tutorial/*.html", 50),
    "rust-doc": ("/usr/share/doc/rust-doc/html/std", "vec/**/*.html", 50),
}
SITE = "https://docs.example.org/"


def digested(folder: Path, file: Path) -> tuple[str, bytes]:
    url = SITE + str(file.relative_to(folder))
    request = DigestRequest(
        url, file.read_bytes(), "text/html", Kind.PAGE, Preset.MIRROR, markdown=True, anchors=True
    )
    digest = digest_page(request)
    assert isinstance(digest, PageDigest)
    return url, b'---\nsha256: ""' + HEAD_END + (digest.markdown or "").encode()


@pytest.mark.parametrize("package", MANUALS)
def test_all_fragments_lead_somewhere(package: str) -> None:
    name, pattern, least = MANUALS[package]
    folder = Path(name)
    files = sorted(file for file in folder.glob(pattern) if file.is_file())
    if not files:
        pytest.skip(f"the Debian package {package} is not installed")
    pages = dict(digested(folder, file) for file in files)
    links = LocalLinks()
    facts = {url: PageFacts(path=page_path(url)) for url in pages}
    for url in pages:
        links.learn(UrlRecord(url, Hop.LINK, Kind.PAGE, 1, None, Outcome.CAPTURED, "", 1.0, 0, facts[url]))
    wanted = [place for url, data in pages.items() for place in links.places_wanted(data, facts[url])]
    places = {
        digest_of(f"{facts[url].path}#{place}")
        for url, data in pages.items()
        for place in places_in(data.decode())
    }
    dead = set(wanted) - places
    # Of what the pages themselves lack, as line numbers that scripts make; those lose their fragment.
    assert sum(place in dead for place in wanted) <= len(wanted) / 50
    links.learn_dead(dead)
    ids = {facts[url].path: set(places_in(data.decode())) for url, data in pages.items()}
    fragments = 0
    for url, data in pages.items():
        path = facts[url].path or ""
        new, _ = links.applied(data, facts[url])
        for target in targets_of(new.decode()):
            file, _, fragment = target.partition("#")
            if fragment and "://" not in target:
                fragments += 1
                there = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
                assert unquote(fragment) in ids[unquote(there)], f"{target} of {url}"
    assert fragments >= least
