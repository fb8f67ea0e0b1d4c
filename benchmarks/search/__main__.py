"""``python -m benchmarks.search``: how well questions are answered, beside other engines, and what it costs.

Lists of questions: on ``tuned.txt`` weights were chosen, on ``unseen.txt`` never; with ``--fresh`` those of
``fresh.txt`` too, which nobody who changes the ranking may read; ``--others`` asks those of ``others.txt``
instead, about four other manuals. ``--missed`` lists the questions without a
right page among the first three; ``--choose`` tries other weights on the tuned ones.
Exits with 1 if a figure is below its target; docs/concepts/ranking.md says which are.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.search.choosing import choose
from benchmarks.search.engines import (
    blend,
    bm25s_sections,
    pieces,
    plain_sections,
    tantivy_sections,
)
from benchmarks.search.manuals import mirrored
from benchmarks.search.questions import Engine, Question, Score, place, questions, score
from sumi.corpus.indexing import index
from sumi.corpus.library import Library

_LEAST: Final = {"tuned": (0.75, 0.70), "unseen": (0.66, 0.60), "fresh": (0.66, 0.60), "others": (0.66, 0.60)}
_BETTER: Final = 0.05  # than plain sections, on unseen questions


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--manuals", type=Path, default=Path("build/manuals"), help="Where mirrors are kept.")
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--others", action="store_true")
    options = parser.parse_args()
    names = ["others"] if options.others else ["tuned", "unseen", *["fresh"] * options.fresh]
    output = mirrored(
        options.manuals / "others" if options.others else options.manuals, others=options.others
    )
    began = time.process_time()
    (done,) = asyncio.run(index(output, rebuild=True))
    spent = time.process_time() - began
    size = sum(file.stat().st_size for file in (output / ".sumi-search").iterdir())
    print(f"index: {done.pages:,} pages, {1000 * spent / done.pages:.2f} s of processor time and "
          f"{size / done.pages / 1000:.1f} MB for each 1,000")  # fmt: skip
    library = asyncio.run(Library.open(output))
    try:
        if options.choose:
            choose(library, questions("tuned"))
            return 0
        _show_time(library, names)
        if options.missed:
            _show_missed(library, names)
        return _compare(library, names)
    finally:
        library.close()


def _show_time(library: Library, names: Sequence[str]) -> None:
    ask, spent = blend(library), []
    for each in [each for name in names for each in questions(name)]:
        began = time.process_time()
        ask(each.text, "")
        spent.append(1000 * (time.process_time() - began))
    print(f"a query: {statistics.median(spent):.0f} ms of processor time, 95 % below "
          f"{statistics.quantiles(spent, n=20)[-1]:.0f} ms\n")  # fmt: skip


def _show_missed(library: Library, names: Sequence[str]) -> None:
    ask = blend(library)
    for name in names:
        for each in questions(name):
            found = ask(each.text, each.site)
            at = place(each, found)
            if not 0 < at < 4:
                first = ", ".join(path for _, path in found[:3])
                print(f"{name} {each.site}: {each.text} | place {at or '-'} | first: {first}")


def _compare(library: Library, names: Sequence[str]) -> int:
    sections = pieces(library)
    engines: dict[str, Engine] = {
        "blend (Sumi)": blend(library),
        "FTS5, plain sections": plain_sections(sections),
        "tantivy, sections": tantivy_sections(sections),
        "bm25s, sections": bm25s_sections(sections),
    }
    print(
        "MRR@10, and how often the first page is right: site known / all four sites together / the same, and "
        "right pages of other manuals count\n"
    )
    failed = False
    for name in names:
        asked = questions(name)
        print(
            f"| {name}: {len(asked)} questions | site known | all sites | right pages of all |\n"
            "| --- | --- | --- | --- |"
        )
        figures = {}
        for engine, ask in engines.items():
            figures[engine] = found = _scores(asked, ask)
            shown = " | ".join(f"{each.mrr:.3f} ({each.first:.2f})" for each in found)
            print(f"| {engine} | {shown} |", flush=True)
        print()
        ours, plain = figures["blend (Sumi)"], figures["FTS5, plain sections"]
        failed |= any(mine.mrr < least for mine, least in zip(ours, _LEAST[name], strict=False))
        if name != "tuned":
            failed |= any(mine.mrr < other.mrr + _BETTER for mine, other in zip(ours, plain, strict=True))
    print("below a target" if failed else "every target is reached")
    return int(failed)


def _scores(asked: Sequence[Question], ask: Engine) -> tuple[Score, Score, Score]:
    known = [ask(each.text, each.site) for each in asked]
    together = [ask(each.text, "") for each in asked]
    return score(asked, known), score(asked, together), score(asked, together, elsewhere=True)


if __name__ == "__main__":
    sys.exit(main())
