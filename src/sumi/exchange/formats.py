"""The formats of ``sumi export``. To add one, write a function that writes it, add a row here, describe it in
``docs/guides/export.md`` and run ``make docs``."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from sumi.exchange.epub import write_epub
from sumi.exchange.material import Material
from sumi.exchange.reading import write_llms, write_llms_full, write_markdown
from sumi.exchange.sitemap_file import write_sitemap
from sumi.exchange.tables import write_jsonl, write_parquet
from sumi.exchange.trees import write_mkdocs, write_obsidian
from sumi.exchange.wacz import write_wacz


class Choices(msgspec.Struct, frozen=True):
    """What a user may decide about a format."""

    sections: bool = False  # a row for each section, not for each page
    max_tokens: int = 0  # of one part; 0: one file for everything


class Format(NamedTuple):
    summary: str
    suffix: str  # of its file; "" for a folder
    write: Callable[[Material, Path, Choices], int]  # returns what it wrote: pages, or rows
    growth: float  # bytes of the result for each byte of the pages, at most; the disk must have them
    takes: tuple[str, ...] = ()  # the choices that mean something to it
    with_files: bool = False  # images and downloads are part of it


FORMATS: Final = {
    "wacz": Format(
        "a web archive that ReplayWeb.page replays in a browser",
        ".wacz",
        lambda material, target, _: write_wacz(material, target),
        6.0,
        with_files=True,
    ),
    "jsonl": Format(
        "JSON lines, a row for each page",
        ".jsonl",
        lambda material, target, choices: write_jsonl(material, target, by_section=choices.sections),
        1.6,
        ("sections",),
    ),
    "parquet": Format(
        "a Parquet file, a row for each page",
        ".parquet",
        lambda material, target, choices: write_parquet(material, target, by_section=choices.sections),
        1.0,
        ("sections",),
    ),
    "llms": Format(
        "llms.txt: titles, addresses and descriptions",
        "-llms.txt",
        lambda material, target, _: write_llms(material, target),
        0.2,
    ),
    "llms-full": Format(
        "llms-full.txt: all texts, each with its address",
        "-llms-full.txt",
        lambda material, target, choices: write_llms_full(material, target, choices.max_tokens),
        1.2,
        ("max_tokens",),
    ),
    "markdown": Format(
        "one Markdown file with a table of contents",
        ".md",
        lambda material, target, choices: write_markdown(material, target, choices.max_tokens),
        1.2,
        ("max_tokens",),
    ),
    "epub": Format(
        "an e-book, with the images that were kept",
        ".epub",
        lambda material, target, _: write_epub(material, target),
        1.5,
        with_files=True,
    ),
    "sitemap": Format(
        "sitemap.xml",
        "-sitemap.xml",
        lambda material, target, _: write_sitemap(material, target),
        0.2,
    ),
    "obsidian": Format(
        "a folder of notes that link to each other",
        "",
        lambda material, target, _: write_obsidian(material, target),
        1.5,
        with_files=True,
    ),
    "mkdocs": Format(
        "a folder that `mkdocs build` makes a site of",
        "",
        lambda material, target, _: write_mkdocs(material, target),
        1.5,
        with_files=True,
    ),
}
