"""A site made for being crawled under fire: every page has a sentence, and words, that no other has."""

import random
from pathlib import Path
from typing import NamedTuple

_NEIGHBOURS = (1, 2, 7, 31)
_SYLLABLES = tuple(first + vowel for first in "bdfghklmnprstvz" for vowel in ("a", "e", "i", "o", "u", "ei"))
_PARAGRAPHS = 8
_SECTIONS = 12


class TrialPage(NamedTuple):
    path: str
    sentence: str


def write_site(folder: Path, count: int) -> list[TrialPage]:
    """A front page, pages that link to each other, and a sitemap of all, in which the server fills in
    ``{origin}``.

    Names and texts are drawn at random, the same each time, so that nothing looks like a trap or a copy.
    """
    chance = random.Random(count)  # noqa: S311 - words, not secrets
    sections = [_words(chance, 1) for _ in range(_SECTIONS)]
    pages = [TrialPage("/", "This is the front page and no other.")]
    for number in range(1, count):
        path = f"/{chance.choice(sections)}/{_words(chance, 2).replace(' ', '-')}-{number}.html"
        pages.append(TrialPage(path, f"This is page {number} and no other."))
    for number, page in enumerate(pages):
        file = folder / (page.path[1:] or "index.html")
        file.parent.mkdir(exist_ok=True)
        file.write_text(_html(pages, number, chance), encoding="utf-8")
    (folder / "robots.txt").write_text("User-agent: *\nDisallow:\nSitemap: {origin}/sitemap.xml\n")
    urls = "".join(f"<url><loc>{{origin}}{page.path}</loc></url>\n" for page in pages)
    head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    (folder / "sitemap.xml").write_text(f"{head}{urls}</urlset>\n")
    return pages


def _html(pages: list[TrialPage], number: int, chance: random.Random) -> str:
    links = [pages[(number + step) % len(pages)].path for step in _NEIGHBOURS]
    body = "".join(f"<p>{_words(chance, 60)}.</p>\n" for _ in range(_PARAGRAPHS))
    menu = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    title = _words(chance, 3).capitalize()
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><h1>{title}</h1>\n"
        f"<p>{pages[number].sentence}</p>\n{body}<ul>{menu}</ul></body></html>\n"
    )


def _words(chance: random.Random, count: int) -> str:
    return " ".join("".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(count))
