"""``python -m benchmarks.rendering_auto FOLDER…``: which HTML files `--render auto` would render, and why.

For calibration: a folder of static documentation should give next to none, one of shells of applications all.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sumi.parse.page.javascript import needs_javascript

SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
SHOWN = 20


def main() -> None:
    for folder in map(Path, sys.argv[1:]):
        reasons: Counter[str] = Counter()
        pages = 0
        for path in pages_under(folder):
            pages += 1
            reason = needs_javascript(path.read_bytes())
            if reason:
                reasons[reason] += 1
        print(f"{folder}: {reasons.total()} of {pages} pages")
        for reason, count in reasons.most_common(SHOWN):
            print(f"  {count:6}  {reason}")


def pages_under(folder: Path) -> Iterator[Path]:
    return (
        path
        for path in folder.rglob("*")
        if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink()
    )


if __name__ == "__main__":
    main()
