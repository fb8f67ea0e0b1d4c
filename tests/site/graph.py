"""The link graph of a generated documentation site: sections, chains, shortcuts, and what time did to it.

A share of the pages is linked but in no sitemap, another is in the sitemap but linked from nowhere. Names are
chosen to hurt: queries, accents, twins that differ by case or by a trailing slash only.
"""

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from math import isqrt
from random import Random

from tests.site.wording import ADJECTIVES, NOUNS

NAV_SECTIONS = 8  # a site of 50,000 pages has over a hundred sections; nobody's navigation bar has
SIDEBAR = 12
TAIL = 4  # the last pages of a section, reached only by "next" from one to the other
FULL_SITE = 10  # smaller sites are plain: no redirects, dead links or odd pages


@dataclass(frozen=True, slots=True)
class Page:
    path: str
    title: str
    links: tuple[str, ...]  # where its links lead, in document order
    listed: bool  # in the sitemap
    linked: bool  # from some other page

    @property
    def marker(self) -> str:
        """A word of this page alone; ``opens-`` and ``closes-`` it frame the text."""
        return hashlib.sha256(f"{self.path} {self.title}".encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Graph:
    seed: int
    pages: dict[str, Page]
    redirects: dict[str, str]
    dead: frozenset[str]
    listed_extras: tuple[str, ...]  # redirects and dead ends that the sitemap names
    sections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Child:
    path: str
    title: str
    listed: bool
    linked: bool


@dataclass(frozen=True)
class _Section:
    index: str
    children: list[_Child] = field(default_factory=list)

    @cached_property
    def linked(self) -> list[str]:
        return [child.path for child in self.children if child.linked]

    @cached_property
    def places(self) -> dict[str, int]:
        return {path: at for at, path in enumerate(self.linked)}

    @cached_property
    def shown(self) -> list[str]:
        """What the section's index and sidebars name; the tail is left to be found page by page."""
        return self.linked[:-TAIL] if len(self.linked) > 2 * TAIL else self.linked


def draw_graph(seed: int, n: int) -> Graph:
    if n < 1:
        raise ValueError("a site has at least its front page")
    rng = Random(f"site {seed} {n}")
    sections = _draw_sections(rng, n)
    targets = [path for section in sections for path in section.shown] or ["/"]
    redirects = _draw_redirects(rng, n, sections)
    dead = tuple(f"/gone/{_slug(rng, i)}" for i in range(_some(n, 50)))
    extras = _scatter(rng, ["/", *targets], [*redirects, *dead, *_draw_offsite(n)])
    if n >= FULL_SITE:
        extras["/"].append(_private_path(n))
    pages = _link_up(rng, sections, extras, targets, n)
    listed_extras = (*list(redirects)[:2], *dead[:1])
    return Graph(seed, pages, redirects, frozenset(dead), listed_extras, tuple(s.index for s in sections))


def _some(n: int, share: int) -> int:
    return max(2, n // share) if n >= FULL_SITE else 0


def _slug(rng: Random, number: int) -> str:
    return f"{rng.choice(ADJECTIVES)}-{rng.choice(NOUNS)}-{number}"


def _draw_sections(rng: Random, n: int) -> list[_Section]:
    count = max(1, isqrt(n) // 2) if n > 3 else 0
    names = [f"/{NOUNS[i % len(NOUNS)]}{i // len(NOUNS) or ''}/" for i in range(count)] or ["/"]
    sections = [_Section(name) for name in names]
    total = n - 1 - count - (n >= FULL_SITE)  # the front page, the indexes, the private page
    previous = ""
    for i in range(total):
        twin = i % 23 in (11, 22)
        section = sections[(i - twin) % len(sections)]
        path = _twin(previous, i) if twin else _plain_path(rng, section.index, i)
        previous = path
        section.children.append(_child(rng, path, i, odd=n >= FULL_SITE))
    return sections


def _child(rng: Random, path: str, i: int, *, odd: bool) -> _Child:
    title = f"{rng.choice(ADJECTIVES).capitalize()} {rng.choice(NOUNS)} {i}"
    decorated = (title, f"{title}: why & when", f"“{title}” <in brief>", f"# {title} | naïve – 墨")[i % 7 % 4]
    only_listed = odd and i % 13 == 5
    only_linked = odd and i % 10 == 7 and not only_listed
    return _Child(path, decorated, listed=not only_linked, linked=not only_listed)


def _plain_path(rng: Random, index: str, i: int) -> str:
    if i % 17 == 3:
        return f"{index}list?page={i}&order=name"
    accent = "caf%C3%A9-" if i % 19 == 4 else ""
    return f"{index}{accent}{_slug(rng, i)}{('.html', '', '/')[i % 3]}"


def _twin(path: str, i: int) -> str:
    """A path that a careless mirror writes into the same file."""
    if i % 23 == 11:
        return path.removesuffix("/") if path.endswith("/") else path + "/"
    folder, slash, name = path.rstrip("/").rpartition("/")
    return f"{folder}{slash}{name[0].upper()}{name[1:]}{path[len(path.rstrip('/')) :]}"


def _draw_redirects(rng: Random, n: int, sections: list[_Section]) -> dict[str, str]:
    """The first leads to the second, which makes a chain; all end at pages both linked and listed."""
    targets = [child.path for s in sections for child in s.children if child.linked and child.listed]
    sources = [f"/old/{_slug(rng, i)}" for i in range(_some(n, 40))]
    redirects = {source: rng.choice(targets) for source in sources}
    if len(sources) > 1:
        redirects[sources[0]] = sources[1]
    return redirects


def _draw_offsite(n: int) -> list[str]:
    return [f"https://elsewhere.example/page-{i}" for i in range(_some(n, 100))]


def _scatter(rng: Random, hosts: list[str], extras: list[str]) -> defaultdict[str, list[str]]:
    placed: defaultdict[str, list[str]] = defaultdict(list)
    for extra in extras:
        placed[rng.choice(hosts)].append(extra)
    return placed


def _private_path(n: int) -> str:
    return f"/private/draft-{n}"


def _link_up(
    rng: Random, sections: list[_Section], extras: dict[str, list[str]], targets: list[str], n: int
) -> dict[str, Page]:
    indexes = [section.index for section in sections if section.index != "/"]
    flat = sections[0].shown if not indexes else []
    front = [*indexes, *flat, *extras.get("/", ())]
    pages = {"/": Page("/", "Welcome", tuple(front), listed=True, linked=True)}
    for number, section in enumerate(sections):
        nav = ["/", *_around(indexes, number, NAV_SECTIONS)]
        if section.index != "/":
            links = (*nav, *section.shown, *extras.get(section.index, ()))
            title = section.index.strip("/").capitalize()
            pages[section.index] = Page(section.index, title, links, listed=True, linked=True)
        for child in section.children:
            cross = [*rng.sample(targets, min(3, len(targets))), *extras.get(child.path, ())]
            links = (*nav, *_sidebar(section, child), *cross)
            pages[child.path] = Page(child.path, child.title, links, child.listed, child.linked)
    if n >= FULL_SITE:
        path = _private_path(n)
        pages[path] = Page(path, "Private draft", ("/",), listed=False, linked=True)
    return pages


def _sidebar(section: _Section, child: _Child) -> list[str]:
    shown, linked = section.shown, section.linked
    if not child.linked:
        return shown[:SIDEBAR]
    at = section.places[child.path]
    neighbours = [*linked[max(at - 1, 0) : at], *linked[at + 1 : at + 2]]
    return [*_around(shown, at, SIDEBAR), *neighbours]


def _around(items: list[str], at: int, width: int) -> list[str]:
    start = max(0, min(at - width // 2, len(items) - width))
    return items[start : start + width]
