"""The captured pages of several folders, open for searching and reading, by people and by agents."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from sumi.catalogue.find import JobKind, Place
from sumi.catalogue.pages import CapturedPage, Form, open_contents
from sumi.corpus.index_store import IndexDamaged, SearchIndex
from sumi.corpus.indexing import Source, Tell, sources_in, update_index
from sumi.corpus.page_markdown import request
from sumi.errors import UsageError
from sumi.files.segments import place_in


class SiteRow(NamedTuple):
    store: SearchIndex
    id: int
    host: str
    kind: JobKind
    source: str  # the name of its folder
    key: str
    pages: int
    tokens: int
    fetched_at: float  # its newest page


class PageRow(NamedTuple):
    store: SearchIndex
    id: int
    kind: JobKind
    key: str
    url: str
    path: str
    title: str
    sha256: str
    text_sha256: str
    form: Form
    tokens: int
    fetched_at: float
    fidelity: float | None
    about: str

    @property
    def file(self) -> str:
        """Where it is, for people; "" if it is in a database or a store."""
        is_file = bool(self.path) and place_in(self.path) is None
        return str(self.store.root / self.path) if is_file else ""


_PAGE = (
    "SELECT p.id, o.kind, o.key, p.url, p.path, p.title, p.sha256, p.text_sha256, p.form, p.tokens, "
    "p.fetched_at, p.fidelity, p.about FROM page p JOIN site s ON s.id = p.site "
    "JOIN source o ON o.id = s.source "
)
_SITES = (
    "SELECT s.id, s.host, o.kind, o.name, o.key, count(*), sum(p.tokens), max(p.fetched_at) FROM site s "
    "JOIN source o ON o.id = s.source JOIN page p ON p.site = s.id GROUP BY s.id ORDER BY s.host, o.key"
)


class Library:
    """Open it with ``await Library.open(...)``, and close it."""

    def __init__(self, places: Sequence[Place], tell: Tell) -> None:
        self._places = tuple(places)
        self._tell = tell
        self._stores: dict[Path, SearchIndex] = {}
        self._keys: dict[Path, set[str]] = {}
        self._looked = 0.0

    @classmethod
    async def open(cls, *places: Place, tell: Tell = lambda words: None) -> "Library":
        """Without places: ``output`` and ``captures``. What is not indexed yet is indexed now."""
        library = cls(places, tell)
        try:
            await library.refresh()
        except BaseException:
            library.close()
            raise
        return library

    async def refresh(self, age: float = 0.0) -> None:
        """Look for what was captured since, unless that was done less than ``age`` seconds ago."""
        if self._looked and time.monotonic() - self._looked < age:
            return
        found = sources_in(self._places)
        for root, sources in found.items():
            await self._refresh_root(root, sources)
        for root in self._stores.keys() - found.keys():
            self._stores.pop(root).close()
        self._looked = time.monotonic()

    async def _refresh_root(self, root: Path, sources: list[Source]) -> None:
        self._keys[root] = {source.key for source in sources}
        store = self._stores.get(root)
        if store is not None and not store.is_there:
            store.close()
            store = None
        for _ in range(2):
            if store is None:
                store = self._stores[root] = SearchIndex(root)
                if store.note:
                    self._tell(store.note)
            try:
                await update_index(store, sources, tell=self._tell, only_stale=True)
            except IndexDamaged:
                self._tell(f"{store.path} is damaged, so it is rebuilt")
                store.close()
                store.remove()
                store = None
            else:
                return

    async def rebuild(self) -> None:
        """After damage that only showed in use."""
        for store in self.stores:
            self._tell(f"{store.path} is damaged, so it is rebuilt")
            store.close()
            store.remove()
        self._stores.clear()
        await self.refresh()

    def close(self) -> None:
        for store in self._stores.values():
            store.close()
        self._stores.clear()

    @property
    def stores(self) -> list[SearchIndex]:
        return list(self._stores.values())

    # ── sites ──────────────────────────────────────────────────────────────────────────────────────────

    def sites(self, name: str = "") -> list[SiteRow]:
        """All, or those that a name means: a host, its domain, or a folder. UsageError if it means none."""
        found = [
            SiteRow(store, number, host, JobKind(kind), source, key, pages, tokens, at)
            for root, store in self._stores.items()
            for number, host, kind, source, key, pages, tokens, at in store.rows(_SITES)
            if key in self._keys[root]
        ]
        if not name:
            return found
        wanted = name.lower().strip().removeprefix("https://").removeprefix("http://").strip("/")
        meant = [
            site for site in found if wanted in (site.host, site.host.partition(":")[0], site.source.lower())
        ]
        meant = meant or [site for site in found if site.host.partition(":")[0].endswith(f".{wanted}")]
        if not meant:
            known = ", ".join(dict.fromkeys(site.host for site in found[:20])) or "none"
            raise UsageError(f"no captured site is called {name[:80]!r}; there are: {known}")
        return meant

    def chosen_sites(self, names: Iterable[str]) -> dict[int, list[int]] | None:
        """Ids by store (its place in ``stores``); None if everything is meant."""
        named = list(names)
        if not named and all(self._is_whole(root) for root in self._stores):
            return None
        chosen: dict[int, list[int]] = {}
        for site in [each for name in named for each in self.sites(name)] if named else self.sites():
            chosen.setdefault(self.stores.index(site.store), []).append(site.id)
        return chosen

    def _is_whole(self, root: Path) -> bool:
        indexed = {key for (key,) in self._stores[root].rows("SELECT key FROM source")}
        return indexed <= self._keys[root]

    # ── pages ──────────────────────────────────────────────────────────────────────────────────────────

    def page_by_id(self, store: SearchIndex, number: int) -> PageRow:
        return self._rows(store, "WHERE p.id = ?", (number,))[0]

    def page(self, url: str) -> PageRow | None:
        """The newest of its captures. The scheme and a last slash may be missing."""
        bare = url.strip().partition("#")[0]
        tails = (bare, f"{bare}/", bare.removesuffix("/"))
        for spelling in dict.fromkeys(
            (*tails, *(f"{scheme}://{tail}" for scheme in ("https", "http") for tail in tails))
        ):
            found = [
                row
                for root, store in self._stores.items()
                for row in self._rows(store, "WHERE p.url = ?", (spelling,))
                if row.key in self._keys[root]
            ]
            if found:
                return max(found, key=lambda row: (row.form is not Form.NONE, row.fetched_at))
        return None

    def similar_pages(self, url: str, limit: int = 3) -> list[str]:
        """URLs that end alike."""
        tail = url.strip().partition("#")[0].rstrip("/").rpartition("/")[2]
        if not tail:
            return []
        pattern = tail.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        found: list[str] = []
        for store in self.stores:
            rows = store.rows(
                "SELECT url FROM page WHERE url LIKE ? ESCAPE '\\' ORDER BY length(url) LIMIT ?",
                (f"%{pattern}%", limit),
            )
            found += [row[0] for row in rows]
        return sorted(found, key=len)[:limit]

    def _rows(self, store: SearchIndex, where: str, bindings: tuple[object, ...]) -> list[PageRow]:
        return [
            PageRow(store, number, JobKind(kind), key, url, path, title, sha, text_sha, Form(form), *rest)
            for number, kind, key, url, path, title, sha, text_sha, form, *rest in store.rows(
                _PAGE + where, bindings
            )
        ]

    def text(self, row: PageRow) -> str | None:
        """Its Markdown, without front matter. None if it is not there, or not what was indexed: an answer
        never quotes what is no longer there."""
        from hashlib import sha256

        data = self._markdown(row)
        if data is None or sha256(data).hexdigest() != row.text_sha256:
            return None
        return data.decode("utf-8", "replace")

    def _markdown(self, row: PageRow) -> bytes | None:
        address, _, content_type = row.about.partition("\n")
        page = CapturedPage(url=row.url, form=row.form, sha256=row.sha256, path=row.path)
        with open_contents(row.kind, row.store.root, row.store.root / row.key) as contents:
            content = contents.read(page)
        if content is None or row.form is not Form.HTML:
            return None if content is None else content.data
        from sumi.parse.page.digest import PageDigest
        from sumi.parse.page.digester import digest_page

        digest = digest_page(request(address or row.url, content_type, content.data))
        return (digest.markdown or "").encode("utf-8", "replace") if isinstance(digest, PageDigest) else None
