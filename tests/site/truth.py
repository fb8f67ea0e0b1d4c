"""What the generated site is and how crawls of it must end, derived from its arguments alone in any process.

Everything is named by its path (with the query, if any), since the port is only known once a server runs.
Outcomes are the plain words a manifest uses, so that this judge shares no code with what it judges.
"""

import hashlib
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tests.site.graph import Graph, Page, draw_graph
from tests.site.markup import render


@dataclass(frozen=True)
class Truth:
    graph: Graph
    body_size: int
    disallow: tuple[str, ...]
    has_sitemap: bool
    bad_sitemaps: tuple[tuple[str, str], ...]  # files that the sitemap index names, and how each fails

    @property
    def pages(self) -> Mapping[str, Page]:
        """Everything that answers 200 with HTML."""
        return self.graph.pages

    @property
    def redirects(self) -> Mapping[str, str]:
        return self.graph.redirects

    @property
    def dead(self) -> frozenset[str]:
        return self.graph.dead

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """What the sitemaps name: most pages, some redirects, a dead end."""
        pages = [path for path, page in self.pages.items() if page.listed]
        return (*pages, *self.graph.listed_extras)

    @cached_property
    def disallowed(self) -> frozenset[str]:
        """Pages that nobody who obeys robots.txt asks for."""
        return frozenset(path for path in self.pages if path.startswith(self.disallow))

    @cached_property
    def outcomes_by_links(self) -> dict[str, str]:
        """How each URL ends when links are followed from the front page and no sitemap is read."""
        return self._walk(["/"], follow=True)

    @cached_property
    def outcomes_by_sitemap(self) -> dict[str, str]:
        """How each URL ends when the sitemaps decide and links are only noted."""
        return self._walk(["/", *self.listed], follow=False) | dict(self.bad_sitemaps)

    @cached_property
    def outcomes_by_both(self) -> dict[str, str]:
        """How each URL ends when the sitemaps are read and links are followed too."""
        return self._walk(["/", *self.listed], follow=True) | dict(self.bad_sitemaps)

    @property
    def outcomes(self) -> dict[str, str]:
        """The default of a mirror: by the sitemaps where there are any, else by links."""
        return self.outcomes_by_sitemap if self.has_sitemap else self.outcomes_by_links

    @property
    def captured_by_links(self) -> frozenset[str]:
        return captured(self.outcomes_by_links)

    @property
    def captured_by_sitemap(self) -> frozenset[str]:
        return captured(self.outcomes_by_sitemap)

    @property
    def captured_by_both(self) -> frozenset[str]:
        return captured(self.outcomes_by_both)

    def body(self, path: str) -> bytes:
        return render(self.graph, self.pages[path], self.body_size)

    def sha256(self, path: str) -> str:
        return hashlib.sha256(self.body(path)).hexdigest()

    def _walk(self, seeds: Iterable[str], *, follow: bool) -> dict[str, str]:
        queue = deque(seeds)
        wanted = set(queue)
        endings: dict[str, str] = {}
        noted: dict[str, None] = {}
        while queue:
            url = queue.popleft()
            endings[url] = self._ending(url)
            leads = self._leads(url) if endings[url] in ("captured", "redirected") else ()
            # A redirect is always followed; a link only where links decide.
            taken = leads if follow or url in self.redirects else ()
            noted.update(dict.fromkeys(leads))
            fresh = [lead for lead in dict.fromkeys(taken) if lead not in wanted]
            wanted.update(fresh)
            queue.extend(fresh)
        for url in noted:
            refusal = self._ending(url)
            endings.setdefault(url, refusal if refusal in ("out_of_scope", "robots_denied") else "unlisted")
        return endings

    def _ending(self, url: str) -> str:
        if _offsite(url):
            return "out_of_scope"
        if url.startswith(self.disallow):
            return "robots_denied"
        if url in self.redirects:
            return "redirected"
        return "captured" if url in self.pages else "not_found"

    def _leads(self, url: str) -> tuple[str, ...]:
        target = self.redirects.get(url)
        return self.pages[url].links if target is None else (target,)


def captured(outcomes: Mapping[str, str]) -> frozenset[str]:
    return frozenset(url for url, outcome in outcomes.items() if outcome == "captured")


def _offsite(url: str) -> bool:
    return not url.startswith("/")


@lru_cache(maxsize=2048)
def site(
    seed: int,
    n: int,
    *,
    body_size: int = 4096,
    disallow: tuple[str, ...] = ("/private/",),
    has_sitemap: bool = True,
    bad_sitemaps: tuple[tuple[str, str], ...] = (),
) -> Truth:
    """The truth about the site of ``n`` pages that ``seed`` stands for."""
    return Truth(draw_graph(seed, n), body_size, disallow, has_sitemap, bad_sitemaps)
