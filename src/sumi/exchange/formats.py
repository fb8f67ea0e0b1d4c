"""The formats of ``sumi export``. To add one, write a function that writes it, add a row here, describe it in
``docs/guides/export.md`` and run ``make docs``."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from sumi.exchange.material import Material
from sumi.exchange.tables import write_jsonl, write_parquet
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
}
