"""``python -m benchmarks.fidelity``: how much of real pages arrives in Markdown, by converter, and how fast.

Converters have a process each, one after the other, and the same pages. One that is too slow for its share of
time is measured on the first so many, which are of all sources.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from benchmarks.fidelity_converters import CONVERTERS, MISSING, Convert
from benchmarks.fidelity_corpus import SOURCES, Page, pages, reference
from sumi.parse.fidelity import Expected, judge
from sumi.parse.holdings import words_of_markdown, words_of_tree

RESULTS: Final = Path(__file__).parent / "results"
_KINDS: Final = ("words", "headings", "code blocks", "code languages", "table", "list items", "links")


def measure(name: str, most: int, seconds: float) -> dict[str, Any]:
    """Quality first; then speed, over the same pages again: by then whatever can be cached is."""
    package, make = CONVERTERS[name]
    convert = make()
    corpus = [(page, expected) for page in pages(most) if (expected := reference(page)) is not None]
    scores: defaultdict[str, list[float]] = defaultdict(list)
    purity: list[float] = []
    short: defaultdict[str, int] = defaultdict(int)
    deadline = time.perf_counter() + seconds
    judged: list[Page] = []
    for page, expected in corpus:
        if time.perf_counter() > deadline:
            break
        markdown = _convert(convert, page)
        fidelity = judge(expected, markdown)
        if fidelity is None:
            continue
        judged.append(page)
        scores[page.source.generator].append(fidelity.score)
        purity.append(_purity(expected, markdown))
        for kind in {one for one in _KINDS for words in fidelity.shortfalls if words.startswith(one)}:
            short[kind] += 1
    return {
        "name": name,
        "version": _version(package),
        "pages": len(judged),
        "fidelity": statistics.fmean(score for each in scores.values() for score in each),
        "purity": statistics.fmean(purity),
        "short": {kind: short[kind] / len(judged) for kind in _KINDS},
        "generators": {name: statistics.fmean(each) for name, each in scores.items()},
        **_speed(convert, judged, seconds),
    }


def _speed(convert: Convert, corpus: Sequence[Page], seconds: float) -> dict[str, float]:
    """Processor time, which what else the machine does disturbs least."""
    spent, octets, count = 0.0, 0, 0
    for page in corpus:
        if spent > seconds:
            break
        started = time.process_time()
        _convert(convert, page)
        spent += time.process_time() - started
        octets += len(page.body)
        count += 1
    return {"ms_per_page": 1000 * spent / count, "mb_per_s": octets / spent / 1e6}


def _convert(convert: Convert, page: Page) -> str:
    try:
        return convert(page.body)
    except Exception:  # of whatever kind: a page that cannot be converted is a page lost
        return ""


def _purity(expected: Expected, markdown: str) -> float:
    """How much of the words that came out are of the content, rather than of the bars around it."""
    wanted = words_of_tree(expected.root)
    came = words_of_markdown(markdown)
    return (came & wanted).total() / came.total() if came else 0.0


def _version(package: str) -> str:
    try:
        return version(package) if package else ""
    except PackageNotFoundError:
        return ""


def table(results: list[dict[str, Any]], absent: dict[str, str]) -> str:
    lines = [
        f"| converter | pages | fidelity | purity | {' | '.join(_KINDS)} | ms/page | MB/s |",
        "| --- |" + " ---: |" * 12,
    ]
    for one in sorted(results, key=lambda one: -one["fidelity"] * one["purity"]):
        short = " | ".join(f"{one['short'][kind]:.0%}" for kind in _KINDS)
        lines.append(
            f"| {one['name']} {one['version']} | {one['pages']:,} | {one['fidelity']:.3f} "
            f"| {one['purity']:.3f} | {short} | {one['ms_per_page']:.2f} | {one['mb_per_s']:.1f} |"
        )
    lines += ["", "| generator | " + " | ".join(one["name"] for one in results) + " |"]
    lines.append("| --- |" + " ---: |" * len(results))
    for generator in dict.fromkeys(source.generator for source in SOURCES):
        cells = (
            f"{one['generators'][generator]:.3f}" if generator in one["generators"] else "" for one in results
        )
        lines.append(f"| {generator} | {' | '.join(cells)} |")
    lines += ["", *(f"- {name}: not measured, {why}." for name, why in absent.items())]
    return "\n".join(lines) + "\n"


def _in_process(name: str, options: argparse.Namespace) -> dict[str, Any] | str:
    """Its result, or why there is none."""
    command = [sys.executable, "-m", "benchmarks.fidelity", "--only", name, "--each", str(options.each)]
    command += ["--seconds", str(options.seconds)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=600 + 4 * options.seconds)
    except subprocess.TimeoutExpired:
        return "did not come to an end"
    if run.returncode:
        return (run.stderr.strip().splitlines() or [f"ended with {run.returncode}"])[-1][:200]
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=220, help="pages of each source, at most")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="for each converter, quality and speed apart"
    )
    parser.add_argument("--only", choices=tuple(CONVERTERS), help="one converter, its result as JSON")
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measure(options.only, options.each, options.seconds)))
        return
    results: list[dict[str, Any]] = []
    absent = dict(MISSING)
    for name in CONVERTERS:
        result = _in_process(name, options)
        if isinstance(result, str):
            absent[name] = result
        else:
            results.append(result)
            print(f"{name}: {result['fidelity']:.4f}, {result['ms_per_page']:.2f} ms", file=sys.stderr)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "fidelity.json").write_text(json.dumps({"results": results, "absent": absent}, indent=1))
    text = table(results, absent)
    (RESULTS / "fidelity.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
