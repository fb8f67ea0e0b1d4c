"""What a trained dictionary saves on real pages: ``python -m benchmarks.dictionary``.

Pages are those that Debian's documentation packages install. A dictionary is trained from the first of a
shuffled list, as a crawl would, and tried on others. Packing is the product's own; times are processor time.
"""

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.fidelity_corpus import SOURCES, Source
from sumi.parse.page.raw import SAMPLE_BYTES, SAMPLES, packed, trained

MOST_PAGES: Final = 900
LEAST_PAGES: Final = 3 * SAMPLES


class Packed(NamedTuple):
    ratio: float
    microseconds: float  # a page


def main() -> None:
    print(f"{'':12} {'pages':>5} {'mean KB':>7} {'training s':>10}  {'plain':>14}  {'with dictionary':>16}")
    for source in SOURCES:
        pages = pages_of(source)
        if len(pages) >= LEAST_PAGES:
            print(f"{source.name:12} {measured(pages)}")


def pages_of(source: Source) -> list[bytes]:
    paths = sorted(path for path in Path(source.folder).glob(source.pattern) if path.is_file())
    random.Random(1).shuffle(paths)
    return [path.read_bytes() for path in paths[:MOST_PAGES]]


def measured(pages: Sequence[bytes]) -> str:
    samples, others = [page[:SAMPLE_BYTES] for page in pages[:SAMPLES]], pages[SAMPLES:]
    started = time.process_time()
    dictionary = trained(samples)
    training = time.process_time() - started
    plain, smaller = packed_all(others, b""), packed_all(others, dictionary)
    mean = sum(map(len, others)) / len(others) / 1000
    saved = 1 - plain.ratio / smaller.ratio
    return (
        f"{len(others):5} {mean:7.0f} {training:10.2f}  {plain.ratio:5.2f} x {plain.microseconds:4.0f} µs  "
        f"{smaller.ratio:5.2f} x {smaller.microseconds:4.0f} µs  {saved:.0%} smaller"
    )


def packed_all(pages: Sequence[bytes], dictionary: bytes) -> Packed:
    packed(pages[0], dictionary)  # makes the compressor
    started = time.process_time()
    size = sum(len(packed(page, dictionary)[1]) for page in pages)
    spent = time.process_time() - started
    return Packed(sum(map(len, pages)) / size, 1e6 * spent / len(pages))


if __name__ == "__main__":
    main()
