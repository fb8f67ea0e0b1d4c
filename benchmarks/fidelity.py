"""``python -m benchmarks.fidelity``: how much of real pages arrives in Markdown, by converter, and how fast.

Every converter has a process of its own, one after the other. The first ``--common`` pages, which are of all
sources in turn, are converted by all of them and make the first table. Those in ``WHOLE`` get all pages,
which make the second. Times are processor time, which what else the machine does disturbs least.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from benchmarks.fidelity_converters import CONVERTERS, MISSING, Convert
from benchmarks.fidelity_corpus import SOURCES, Page, pages, reference
from sumi.parse.markdown.fidelity import Expected, Fidelity, judge, words_of_markdown

RESULTS: Final = Path(__file__).parent / "results"
WHOLE: Final = ("sumi", "sumi, Markdown alone", "turbohtml")
_KINDS: Final = ("words", "headings", "code blocks", "code languages", "table", "list items", "links")


class Tally:
    """What one converter made of the pages so far."""

    def __init__(self) -> None:
        self.judged: list[Page] = []
        self._scores: defaultdict[str, list[float]] = defaultdict(list)
        self._purity: list[float] = []
        self._short: Counter[str] = Counter()
        self._seconds = 0.0

    def add(self, page: Page, expected: Expected, markdown: str, seconds: float) -> None:
        self._seconds += seconds
        # A converter that blows a page up beyond what can be judged has lost it.
        fidelity = judge(expected, markdown) or Fidelity(0.0, [])
        self.judged.append(page)
        self._scores[page.source.generator].append(fidelity.score)
        self._purity.append(_purity(expected, markdown))
        self._short.update({one for one in _KINDS for words in fidelity.shortfalls if words.startswith(one)})

    def result(self) -> dict[str, Any]:
        return {
            "pages": len(self.judged),
            "fidelity": statistics.fmean(score for each in self._scores.values() for score in each),
            "purity": statistics.fmean(self._purity),
            "short": {kind: self._short[kind] / len(self.judged) for kind in _KINDS},
            "generators": {name: statistics.fmean(each) for name, each in self._scores.items()},
            "ms_per_page": 1000 * self._seconds / len(self.judged),
            "mb_per_s": sum(len(page.body) for page in self.judged) / self._seconds / 1e6,
        }


def measure(name: str, most: int, common: int) -> dict[str, Any]:
    package, make = CONVERTERS[name]
    convert = make()
    corpus = pages(most)
    _convert(convert, corpus[0])  # whatever it loads first
    tally = Tally()
    shared: dict[str, Any] | None = None
    for page in corpus:
        expected = reference(page)
        if expected is None:
            continue
        started = time.process_time()
        markdown = _convert(convert, page)
        tally.add(page, expected, markdown, time.process_time() - started)
        if shared is None and len(tally.judged) >= common:
            shared = tally.result()
            if name not in WHOLE:
                break
    everything = tally.result()
    through = everything if name in WHOLE else None
    return {"name": name, "version": _version(package), "common": shared or everything, "all": through}


def _convert(convert: Convert, page: Page) -> str:
    try:
        return convert(page.body)
    except Exception:  # of whatever kind: a page that cannot be converted is a page lost
        return ""


def _purity(expected: Expected, markdown: str) -> float:
    """How much of the words that came out are of the content, rather than of the bars around it."""
    wanted = expected.wording().words
    came = words_of_markdown(markdown)
    return (came & wanted).total() / came.total() if came else 0.0


def _version(package: str) -> str:
    try:
        return version(package) if package else ""
    except PackageNotFoundError:
        return ""


def report(results: list[dict[str, Any]], absent: dict[str, str]) -> str:
    through = [one for one in results if one["all"]]
    parts = [
        *_table("common", results),
        *(_table("all", through) if through else []),
        *_by_generator(results),
        *(f"- {name}: not measured, {why}." for name, why in absent.items()),
    ]
    return "\n".join(parts) + "\n"


def _table(which: str, results: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"| converter | pages | fidelity | purity | {' | '.join(_KINDS)} | ms/page | MB/s |",
        "| --- |" + " ---: |" * (len(_KINDS) + 5),
    ]
    for named in sorted(results, key=lambda named: -named[which]["fidelity"] * named[which]["purity"]):
        one = named[which]
        short = " | ".join(f"{one['short'][kind]:.0%}" for kind in _KINDS)
        lines.append(
            f"| {named['name']} {named['version']} | {one['pages']:,} | {one['fidelity']:.3f} "
            f"| {one['purity']:.3f} | {short} | {one['ms_per_page']:.2f} | {one['mb_per_s']:.1f} |"
        )
    return [*lines, ""]


def _by_generator(results: list[dict[str, Any]]) -> list[str]:
    lines = ["| generator | " + " | ".join(one["name"] for one in results) + " |"]
    lines.append("| --- |" + " ---: |" * len(results))
    for generator in dict.fromkeys(source.generator for source in SOURCES):
        cells = (f"{one['common']['generators'].get(generator, 0):.3f}" for one in results)
        lines.append(f"| {generator} | {' | '.join(cells)} |")
    return [*lines, ""]


def _in_process(name: str, options: argparse.Namespace) -> dict[str, Any] | str:
    """Its result, or why there is none."""
    command = [sys.executable, "-m", "benchmarks.fidelity", "--only", name, "--each", str(options.each)]
    command += ["--common", str(options.common)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return "did not come to an end"
    if run.returncode:
        return (run.stderr.strip().splitlines() or [f"ended with {run.returncode}"])[-1][:200]
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=220, help="pages of each source, at most")
    parser.add_argument("--common", type=int, default=320, help="pages that every converter gets")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds, after which one is given up")
    parser.add_argument("--only", choices=tuple(CONVERTERS), help="one converter, its result as JSON")
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measure(options.only, options.each, options.common)))
        return
    results: list[dict[str, Any]] = []
    absent = dict(MISSING)
    for name in CONVERTERS:
        result = _in_process(name, options)
        if isinstance(result, str):
            absent[name] = result
        else:
            results.append(result)
            print(f"{name}: {result['common']['fidelity']:.4f}", file=sys.stderr)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "fidelity.json").write_text(json.dumps({"results": results, "absent": absent}, indent=1))
    text = report(results, absent)
    (RESULTS / "fidelity.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
