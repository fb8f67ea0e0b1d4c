"""A site of real pages: what Debian's documentation packages install, under one root, and the truth about it.

The job that all contenders get: from ``/index.html``, every page of this origin that links lead to and whose
path ends in ``.html``. The truth is found by a plain walk over the same files, with Python's own URL rules.
"""

import gzip
import hashlib
import shutil
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

import turbohtml

from benchmarks.fidelity_corpus import SOURCES, Source

FORMAT: Final = "2"  # of what is built; raise it when that changes
# Each is made by another generator, and its pages link to each other.
SMALL: Final = ("Git", "Zsh", "Rust book")
WHOLE: Final = (*SMALL, "Python", "PostgreSQL", "SQLite", "Django", "MkDocs")
# For contenders that would take too long over the whole: 800 pages that each of them finds, on average three
# quarters as large. (Crawl4AI found no links in PostgreSQL's pages, which begin as XML; so do Git's.)
FEW: Final = ("SQLite", "MkDocs", "Zsh")
ENTRIES: Final = ("index.html", "git.html", "zsh_toc.html")
INDEX: Final = "/index.html"
URL_LIST: Final = "/every-page.xml"
_ORIGIN: Final = "http://site"


class RealSite(NamedTuple):
    folder: Path
    paths: frozenset[str]  # of every page that can be reached, as in URLs
    missing: int  # pages that links lead to and that are not there: every contender asks for them
    megabytes: float
    sources: tuple[Source, ...]


def real_site(place: Path, names: Iterable[str]) -> RealSite:
    """Built if it is not there yet. Packages that are not installed are left out."""
    sources = tuple(source for source in SOURCES if source.name in set(names) and _installed(source))
    if not sources:
        raise SystemExit(
            "none of Debian's documentation packages is installed: try apt install git-doc zsh-doc"
        )
    wanted = FORMAT + "".join(f"{source.name} {source.folder}" for source in sources)
    folder = place / f"site-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}"
    if not (folder / ".complete").exists():
        _build(folder, sources)
    paths, missing = reachable(folder)
    size = sum(_file(folder, path).stat().st_size for path in paths)
    return RealSite(folder, paths, missing, size / 1e6, sources)


def write_url_list(site: RealSite, origin: str) -> None:
    """For the bare loop, which finds nothing itself. Not where a crawler would look for a sitemap."""
    entries = "".join(f"<loc>{origin}{path}</loc>\n" for path in sorted(site.paths))
    (site.folder / URL_LIST.lstrip("/")).write_text(entries)


def _installed(source: Source) -> bool:
    return any(Path(source.folder).glob(source.pattern))


def _build(folder: Path, sources: Iterable[Source]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    entries = []
    for source in sources:
        name = source.name.lower().replace(" ", "-")
        for path in _html_files(Path(source.folder)):
            _write(folder / name / path, (Path(source.folder) / path).read_bytes())
        entry = next(entry for entry in ENTRIES if (folder / name / entry).exists())
        entries.append(f'<li><a href="{name}/{entry}">{source.name}</a></li>')
    _write(folder / "index.html", f"<title>Manuals</title><ul>{''.join(entries)}</ul>".encode())
    (folder / ".complete").touch()


def _html_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.html")):
        if path.is_file():
            yield path.relative_to(folder)


def _write(target: Path, html: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(html)
    target.with_name(target.name + ".gz").write_bytes(gzip.compress(html, 6, mtime=0))


def reachable(folder: Path) -> tuple[frozenset[str], int]:
    found, waiting, missing = {INDEX}, deque([INDEX]), 0
    seen = set(found)
    while waiting:
        path = waiting.popleft()
        for linked in _linked(path, _file(folder, path).read_bytes()) - seen:
            seen.add(linked)
            if not _file(folder, linked).is_file():
                missing += 1
                continue
            found.add(linked)
            waiting.append(linked)
    return frozenset(found), missing


def _linked(path: str, html: bytes) -> set[str]:
    document = turbohtml.parse(html, positions=False)
    hrefs = (link.attr("href") for link in document.iter_elements("a"))
    return {target for href in hrefs if href and (target := _target(path, href))}


def _target(path: str, href: str) -> str:
    try:
        parts = urlsplit(urljoin(_ORIGIN + path, href.strip()))
    except ValueError:
        return ""
    inside = f"{parts.scheme}://{parts.netloc}" == _ORIGIN and not parts.query
    return parts.path if inside and parts.path.endswith(".html") else ""


def _file(folder: Path, path: str) -> Path:
    return folder / unquote(path).lstrip("/")
