"""The rows of JSON lines and Parquet files: their columns and versions. docs/guides/export.md describes them.

A new column gets a default and keeps the version; one that changes its meaning, or goes, needs a new one.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import msgspec

from sumi.corpus.sections import section_ids, sections
from sumi.corpus.tokens import estimate
from sumi.exchange.listing import Listed
from sumi.exchange.material import Material
from sumi.files.plain_text import iso_utc
from sumi.urls import split

PAGES: Final = "sumi.pages/1"
SECTIONS: Final = "sumi.sections/1"


class PageRow(msgspec.Struct, frozen=True):
    schema: str
    url: str
    site: str
    title: str
    description: str
    language: str
    text: str  # Markdown with absolute links
    tokens: int  # estimated
    sha256: str  # of ``text`` as UTF-8
    fetched_at: str | None  # UTC
    changed_at: str | None
    fidelity: float | None


class SectionRow(msgspec.Struct, frozen=True):
    schema: str
    id: str  # stays while the headings above it do
    url: str
    site: str
    title: str  # of the page
    position: int  # on the page, from 0
    level: int  # of its heading, 1 to 6; 0 before the first
    heading: str
    trail: tuple[str, ...]  # the headings above it, its own last
    text: str
    tokens: int
    sha256: str
    language: str
    fetched_at: str | None
    fidelity: float | None  # of the page


def page_rows(material: Material) -> Iterator[PageRow]:
    """In the order of their URLs."""
    for listed, text in material.texts(material.listing.by_url()):
        page = listed.page
        yield PageRow(
            PAGES,
            page.url,
            split(page.url).host,
            page.title,
            page.description,
            page.language,
            text,
            estimate(text),
            _hash(text),
            _time(page.fetched_at),
            _time(page.changed_at),
            page.fidelity,
        )


def section_rows(material: Material) -> Iterator[SectionRow]:
    """In the order of the pages' URLs, and of their places on the page."""
    for listed, text in material.texts(material.listing.by_url()):
        yield from _sections(listed, text)


def _sections(listed: Listed, text: str) -> Iterator[SectionRow]:
    page, cut = listed.page, sections(text)
    for position, (name, section) in enumerate(zip(section_ids(page.url, cut), cut, strict=True)):
        yield SectionRow(
            SECTIONS,
            name,
            page.url,
            split(page.url).host,
            page.title,
            position,
            section.level,
            section.heading,
            section.trail,
            section.text,
            estimate(section.text),
            _hash(section.text),
            page.language,
            _time(page.fetched_at),
            page.fidelity,
        )


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()


def _time(at: float | None) -> str | None:
    return iso_utc(at) if at else None
