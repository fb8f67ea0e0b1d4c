"""``python -m benchmarks.article_model FOLDER``: learn which runs of text belong to an article.

FOLDER holds ``labels.jsonl`` (``page``, ``url``, ``with``, ``without``: pieces of text that do and do not
belong) and ``pages/``. Needs numpy, scipy, scikit-learn and lightgbm; what is learnt needs none of them.

Sites are never split. One in eight is kept apart and looked at only by ``--final``; the others are
cross-validated three times in five folds. ``--whole THRESHOLD…`` does so with all pages, and counts the
pieces in what the conversion writes. ``--write`` learns from all pages and writes the table.
"""

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from zlib import crc32

import lightgbm
import msgspec
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

import sumi.parse.markdown.run_model as run_model
from benchmarks.articles import without_markup
from sumi.parse.html import body_of, parse_html
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.markdown.run_model import Clues, Measured, block_clues
from sumi.parse.markdown.text_runs import read_text

_TABLE: Final = Path(run_model.__file__).with_suffix(".json")
_FEWEST_SITES: Final = 4  # that a clue must be on
_SHORTEST: Final = {0: 15, 1: 25}  # letters of a run that a piece may be longer than
_THRESHOLDS: Final = tuple(at / 100 for at in range(20, 75, 5))
_APART: Final = 8
_LEAST_WEIGHT: Final = 0.01
_INNER: Final = 4
_FOLDS: Final = 5
_URL: Final = "https://e.org/a/b"
_TREES: Final = {
    "n_estimators": 60,
    "learning_rate": 0.12,
    "num_leaves": 8,
    "min_child_samples": 20,
    "subsample": 0.8,
    "subsample_freq": 1,
    "colsample_bytree": 0.5,
    "reg_lambda": 5,
    "verbose": -1,
    "n_jobs": 1,
    "random_state": 0,
}


class Labelled(NamedTuple):
    name: str
    site: str
    texts: list[str]
    wanted: list[str]
    unwanted: list[str]
    labels: list[int | None]
    rows: list[list[float] | None]
    clues: list[list[str]]


class Score(NamedTuple):
    right: int
    wrong: int
    lost: int

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.lost)

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def plus(self, other: "Score") -> "Score":
        return Score(*map(sum, zip(self, other, strict=True)))

    def __str__(self) -> str:
        return f"F1 {self.f1:.4f}, precision {self.precision:.4f}, recall {self.recall:.4f}"


def read(folder: Path) -> Iterator[Labelled]:
    for line in (folder / "labels.jsonl").read_text().splitlines():
        about = json.loads(line)
        document = parse_html((folder / "pages" / about["page"]).read_bytes(), None)
        body, title = body_of(document), document.find("title")
        if body is None:
            continue
        text = read_text(body)
        if not text.runs:
            continue
        measured = Measured(text, "" if title is None else title.text)
        wanted, unwanted = (
            [" ".join(piece.split()) for piece in about[kind]] for kind in ("with", "without")
        )
        texts = [run.text for run in text.runs]
        yield Labelled(
            about["page"],
            site_of(about["url"]),
            texts,
            wanted,
            unwanted,
            [_label(each, wanted, unwanted) for each in texts],
            list(measured.measures()),
            list(_clues(measured)),
        )


def _clues(measured: Measured) -> Iterator[list[str]]:
    """Each as the field of ``Clues`` that it is of, a colon and the word."""
    for run, own in zip(measured.text.runs, measured.clues(), strict=True):
        clues = [f"block:{name}" for name in block_clues(run.block)]
        clues += [f"{kind}:{word}" for kind, words in zip(own._fields, own, strict=True) for word in words]
        block = run.block
        while block not in measured.around and block.parent is not None:
            clues += [f"around:{name}" for name in block_clues(block)]
            block = block.parent
        yield clues


def site_of(url: str) -> str:
    """Pages that were taken from an archive are of the site that it archived."""
    host = urlsplit(url[url.rfind("http") :]).hostname or url
    return ".".join(host.split(".")[-2:])


def _label(text: str, wanted: list[str], unwanted: list[str]) -> int | None:
    for label, pieces in ((1, wanted), (0, unwanted)):
        if any(piece in text or (len(text) >= _SHORTEST[label] and text in piece) for piece in pieces):
            return label
    return None


def score(pages: list[Labelled], likelihoods: list[Any], threshold: float) -> Score:
    right = wrong = lost = 0
    for page, found in zip(pages, likelihoods, strict=True):
        kept = " ".join(text for text, each in zip(page.texts, found, strict=True) if each > threshold)
        hits = sum(piece in kept for piece in page.wanted)
        right, lost = right + hits, lost + len(page.wanted) - hits
        wrong += sum(piece in kept for piece in page.unwanted)
    return Score(right, wrong, lost)


class Learnt(NamedTuple):
    clues: dict[str, int]
    regression: Any
    trees: Any

    def likelihoods(self, page: Labelled) -> list[float]:
        rows = [row for row in page.rows if row is not None]
        clues = [clues for clues, row in zip(page.clues, page.rows, strict=True) if row is not None]
        if not rows:
            return [0.0] * len(page.rows)
        sums = matrix(clues, self.clues) @ self.regression.coef_[0]
        found = iter(self.trees.predict_proba(np.column_stack([rows, sums]))[:, 1])
        return [0.0 if row is None else float(next(found)) for row in page.rows]


def matrix(clues: list[list[str]], known: dict[str, int]) -> Any:
    at = [(row, known[clue]) for row, each in enumerate(clues) for clue in each if clue in known]
    rows, columns = zip(*at, strict=True) if at else ((), ())
    return csr_matrix((np.ones(len(at)), (rows, columns)), shape=(len(clues), len(known)))


def learn(pages: list[Labelled]) -> Learnt:
    """The trees get, of each run, the weight of its clues as learnt from other sites."""
    examples = [
        (page.site, row, clues, label)
        for page in pages
        for row, clues, label in zip(page.rows, page.clues, page.labels, strict=True)
        if row is not None and label is not None
    ]
    sites_of: defaultdict[str, set[str]] = defaultdict(set)
    for site, _, clues, _ in examples:
        for clue in clues:
            sites_of[clue].add(site)
    known = {
        clue: at for at, clue in enumerate(sorted(c for c, s in sites_of.items() if len(s) >= _FEWEST_SITES))
    }
    every = matrix([clues for _, _, clues, _ in examples], known)
    labels = np.array([label for *_, label in examples])
    group = np.array([crc32(f"inner {site}".encode()) % _INNER for site, *_ in examples])
    sums = np.zeros(len(examples))
    for inner in range(_INNER):
        mine = group == inner
        sums[mine] = every[mine] @ _regression(every[~mine], labels[~mine]).coef_[0]
    measures = np.column_stack([[row for _, row, _, _ in examples], sums])
    trees = lightgbm.LGBMClassifier(**_TREES).fit(measures, labels)
    return Learnt(known, _regression(every, labels), trees)


def _regression(clues: Any, labels: Any) -> Any:
    return LogisticRegression(C=0.5, max_iter=300).fit(clues, labels)


def cross_validated(pages: list[Labelled], seed: int) -> list[Any]:
    found: list[Any] = [None] * len(pages)
    folds = [crc32(f"{seed} {page.site}".encode()) % _FOLDS for page in pages]
    for fold in range(_FOLDS):
        learnt = learn([page for page, mine in zip(pages, folds, strict=True) if mine != fold])
        for at, page in enumerate(pages):
            if folds[at] == fold:
                found[at] = learnt.likelihoods(page)
    return found


def converted(pages: list[Labelled], folder: Path, seed: int, thresholds: list[float]) -> list[Score]:
    """Cross-validated, by what the conversion writes."""
    found = [Score(0, 0, 0) for _ in thresholds]
    folds = [crc32(f"{seed} {page.site}".encode()) % _FOLDS for page in pages]
    for fold in range(_FOLDS):
        learnt = learn([page for page, mine in zip(pages, folds, strict=True) if mine != fold])
        held_out = [page for page, mine in zip(pages, folds, strict=True) if mine == fold]
        for at, threshold in enumerate(thresholds):
            with using(run_model.Model(table(learnt, threshold))):
                found[at] = found[at].plus(_score_of_markdown(held_out, folder))
    return found


@contextmanager
def using(model: run_model.Model) -> Iterator[None]:
    packaged = run_model.model
    run_model.model = lambda: model  # type: ignore[assignment]
    try:
        yield
    finally:
        run_model.model = packaged


def _score_of_markdown(pages: list[Labelled], folder: Path) -> Score:
    right = wrong = lost = 0
    for page in pages:
        markdown = page_markdown(parse_html((folder / "pages" / page.name).read_bytes(), None), _URL).markdown
        text = " ".join(without_markup(markdown).split())
        hits = sum(piece in text for piece in page.wanted)
        right, lost = right + hits, lost + len(page.wanted) - hits
        wrong += sum(piece in text for piece in page.unwanted)
    return Score(right, wrong, lost)


def table(learnt: Learnt, threshold: float) -> run_model.Table:
    dumped = learnt.trees.booster_.dump_model()["tree_info"]
    weights: dict[str, dict[str, float]] = {field: {} for field in Clues._fields}
    for clue, at in learnt.clues.items():
        field, _, word = clue.partition(":")
        weight = round(float(learnt.regression.coef_[0][at]), 3)
        if abs(weight) >= _LEAST_WEIGHT:
            weights[field][word] = weight
    return run_model.Table(threshold, weights, [_tree(each["tree_structure"]) for each in dumped])


def _tree(root: dict[str, Any]) -> tuple[list[float], list[tuple[int, float, int, int]]]:
    """As ``run_model.Table`` has it."""
    nodes: list[tuple[int, float, int, int]] = []
    leaves: list[float] = []

    def add(node: dict[str, Any]) -> None:
        if "leaf_value" in node:
            leaves.append(round(node["leaf_value"], 4))
            return
        first = len(leaves)
        add(node["left_child"])
        nodes.append((node["split_feature"], float(f"{node['threshold']:.5g}"), first, len(leaves)))
        add(node["right_child"])

    add(root)
    return leaves, nodes


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--final", action="store_true", help="measure on the sites kept apart")
    parser.add_argument("--whole", type=float, nargs="+", metavar="THRESHOLD", help="measure what is written")
    parser.add_argument("--write", type=float, metavar="THRESHOLD", help="learn from all pages and write")
    options = parser.parse_args()
    every = list(read(options.folder))
    if options.write is not None:
        content = msgspec.json.encode(table(learn(every), options.write))
        _TABLE.write_bytes(content + b"\n")
        return
    if options.whole:
        runs = [converted(every, options.folder, seed, options.whole) for seed in range(3)]
        for at, threshold in enumerate(options.whole):
            _print(f"{threshold:.2f}", [run[at] for run in runs])
        return
    pages = [page for page in every if crc32(page.site.encode()) % _APART]
    apart = [page for page in every if not crc32(page.site.encode()) % _APART]
    print(f"{len(pages)} pages to learn from, {len(apart)} apart")
    chosen = [cross_validated(pages, seed) for seed in range(3)]
    for threshold in _THRESHOLDS:
        _print(f"{threshold:.2f}", [score(pages, run, threshold) for run in chosen])
    if options.final:
        learnt = learn(pages)
        found = [learnt.likelihoods(page) for page in apart]
        for threshold in _THRESHOLDS:
            print(f"apart {threshold:.2f} {score(apart, found, threshold)}")


def _print(name: str, scores: list[Score]) -> None:
    print(f"{name} ±{statistics.pstdev(each.f1 for each in scores):.4f}", *scores, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
