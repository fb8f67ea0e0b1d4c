"""Real pages of many generators, as Debian's documentation packages bring them, and what on them is content.

The content is named here page kind by page kind, by hand and independently of how Sumi finds it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from sumi.parse.html import parse_html
from sumi.parse.markdown.code_blocks import find_code, prepare_code
from sumi.parse.markdown.fidelity import Expected, inventory_of_tree
from sumi.parse.markdown.tables import TableFitter

_DOC: Final = "/usr/share/doc"
# No part of any document, whoever made it.
_NOT_READ: Final = (
    "script, style, template, nav, button, noscript, svg, .headerlink, .viewcode-link, a.anchor, .linenos, "
    ".lineno, .copybtn, a.selflink, a.mark, .srclink, a.self-link, input, select"
)
# Headings that are links to themselves, or back to the list of contents.
_OWN_LINKS: Final = ":is(h1, h2, h3, h4, h5, h6) a[href^='#']"
# Headings in DocBook's HTML, though no part of the outline: a converter may write them as it likes.
_BOX_TITLES: Final = "div:is(.note, .tip, .warning, .caution, .important) > h3.title"
# Back from a footnote to where it was read.
_BACK_LINKS: Final = "a[role=doc-backlink], a.fn-backref, aside.footnote > span.label a"
# Laid out as a table of a title and a text, though it is none.
_BOXES: Final = "div:is(.admonitionblock, .note, .tip, .warning, .caution, .important) > table"
# Markdown of more than three million characters has no score. Were such pages left in, a converter would be
# measured without those that it keeps whole, and with those that it cuts short.
_LARGEST: Final = 1_000_000
_URL: Final = "https://docs.example.org/manual/page.html"


class Source(NamedTuple):
    name: str
    generator: str
    package: str  # of Debian
    folder: str
    pattern: str
    content: str  # selectors, the first that is on the page
    chrome: str = ""  # selectors of what is inside the content without being it


SOURCES: Final = (
    Source("Python", "Sphinx", "python3.11-doc", f"{_DOC}/python3.11/html", "**/*.html", "div.body"),
    Source(
        "Django",
        "Sphinx",
        "python-django-doc",
        f"{_DOC}/python-django-doc/html",
        "**/*.html",
        "#yui-main",
    ),
    Source("CMake", "Sphinx", "cmake-doc", f"{_DOC}/cmake-data/html", "**/*.html", "div.body"),
    Source(
        "Rust std",
        "rustdoc",
        "rust-doc",
        f"{_DOC}/rust-doc/html/std",
        "**/*.html",
        "#main-content",
        ".rightside, .out-of-band, #toggle-all-docs, .hideme, .test-arrow, #copy-path",
    ),
    Source("Rust book", "mdBook", "rust-doc", f"{_DOC}/rust-doc/html/book", "**/*.html", "main"),
    Source("Cargo book", "mdBook", "cargo-doc", f"{_DOC}/cargo/book", "**/*.html", "main"),
    Source("Git", "AsciiDoc", "git-doc", f"{_DOC}/git/html", "**/*.html", "body", "#footer"),
    Source("Java", "Javadoc", "openjdk-17-doc", f"{_DOC}/openjdk-17-doc/api/java.base", "**/*.html", "main"),
    Source(
        "PostgreSQL",
        "DocBook",
        "postgresql-doc-15",
        f"{_DOC}/postgresql-doc-15/html",
        "*.html",
        "body",
        ".navheader, .navfooter",
    ),
    Source(
        "Debian handbook",
        "Publican",
        "debian-handbook",
        f"{_DOC}/debian-handbook/html/en-US",
        "*.html",
        "body",
        ".docnav, #title",
    ),
    Source(
        "Boost",
        "BoostBook",
        "libboost1.81-doc",
        f"{_DOC}/libboost1.81-doc/doc/html/boost",
        "**/*.html",
        "body",
        ".spirit-nav, body > table",
    ),
    Source(
        "libstdc++",
        "Doxygen",
        "libstdc++-12-doc",
        f"{_DOC}/gcc-12-base/libstdc++/user",
        "**/*.html",
        ".contents",
        "iframe, object",
    ),
    Source(
        "GHC",
        "Haddock",
        "ghc-doc",
        f"{_DOC}/ghc-doc/html/libraries",
        "**/*.html",
        "#content",
        "#table-of-contents, #synopsis, .selflink, .link",
    ),
    Source(
        "Qt",
        "QDoc",
        "qtbase5-doc-html",
        "/usr/share/qt5/doc",
        "**/*.html",
        ".content .context, .content",
        ".sidebar, .toc, .buildversion, .navigationbar",
    ),
    Source(
        "GTK",
        "gtk-doc",
        "libgtk-3-doc",
        "/usr/share/gtk-doc/html",
        "**/*.html",
        "body",
        ".navigation, .footer",
    ),
    Source("MkDocs", "MkDocs", "mkdocs-doc", f"{_DOC}/mkdocs/html", "**/*.html", "div[role=main]"),
    Source(
        "Zsh",
        "Texinfo",
        "zsh-doc",
        f"{_DOC}/zsh-common/html",
        "*.html",
        "body",
        ".header, .nav-panel, .navigation, table[cellpadding='1'][border='0']",
    ),
    Source(
        "Apache",
        "own XSLT",
        "apache2-doc",
        f"{_DOC}/apache2-doc/manual/en",
        "**/*.html",
        "#page-content",
        "#quickview, .top, .toplang, .bottomlang, #comments_section",
    ),
    Source(
        "SQLite",
        "hand-made",
        "sqlite3-doc",
        f"{_DOC}/sqlite3",
        "**/*.html",
        "body",
        ".nosearch, .fancy_toc, .hamburger",
    ),
    Source("Node", "own remark", "nodejs-doc", f"{_DOC}/nodejs/api", "*.html", "#apicontent"),
)


class Page(NamedTuple):
    source: Source
    path: Path
    body: bytes


def pages(most_per_source: int) -> list[Page]:
    """In turns of the sources, so that the first thousand are of all of them."""
    kinds = [list(_evenly(source, most_per_source)) for source in SOURCES]
    longest = max(map(len, kinds), default=0)
    return [kind[at] for at in range(longest) for kind in kinds if at < len(kind)]


def reference(page: Page) -> Expected | None:
    """None for a page that has no such content, or none to speak of: a redirect, an empty index."""
    document = parse_html(page.body, "utf-8")
    root = next(
        (found for one in page.source.content.split(", ") if (found := document.select_one(one))), None
    )
    if root is None:
        return None
    for selector in filter(None, (_NOT_READ, page.source.chrome)):
        for element in root.select(selector):
            element.decompose()
    for link in root.select(f"{_OWN_LINKS}, {_BACK_LINKS}"):
        link.unwrap()
    for title in root.select(_BOX_TITLES):
        title.tag = "p"
    for part in root.select(f"{_BOXES}, {_BOXES} :is(tbody, tr, td, th)"):
        part.tag = "div"
    prepare_code(find_code(document))
    root.resolve_links(_URL)
    fitter = TableFitter(document)
    inventory = inventory_of_tree(root)
    for table in reversed(list(root.iter_elements("table"))):
        fitter.fit(table)
    return Expected(fitter.counted(inventory), root, 0) if len(inventory.text.split()) > 20 else None


def _evenly(source: Source, most: int) -> Iterator[Page]:
    """Spread over the folder, and the same pages on every machine with the same packages."""
    found = sorted(path for path in Path(source.folder).glob(source.pattern) if path.is_file())
    files = [path for path in found if path.stat().st_size <= _LARGEST]
    step = max(1, len(files) // most)
    for path in files[::step][:most]:
        yield Page(source, path, path.read_bytes())
