"""How likely each run of text on an article's page belongs to the article, by a table of learnt numbers.

``benchmarks/article_model.py`` learns the table from labelled pages: a weight for each clue (words of
classes, of short texts and of the heading before them), and small decision trees over what can be measured.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate, repeat
from math import exp, log1p
from operator import and_, getitem
from typing import Final, NamedTuple, TypeAlias

import msgspec

from sumi.parse.markdown.text_runs import HEADINGS, Block, PageText, Run, blocks_within, densest

# In the order of the numbers of a run: those that it shares with other runs first, and last the sum of
# the weights of its clues.
MEASURES: Final = (
    "branch links", "branch prose", "kind share", "nest prose", "parent links", "parent prose", "depth",
    "letters", "link share", "points", "position", "prose before", "within", "title", "links before",
    "links after", "letters after", "like before", "like after", "links beside", "sentence",
    "pictures before", "since heading", "clues",
)  # fmt: skip
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_SHORT: Final = 200
_ALL_LINKS: Final = 0.9
_TOO_SHORT: Final = 25
_MOST_KNOWN: Final = 4096
_IN_PARENT: Final = frozenset({"p", "li", "blockquote"})
_QUOTES: Final = "\"'”“’»«)]"
_ENDS: Final = frozenset(".!?。！？")
_LONGEST_KIND: Final = 80

_Kind: TypeAlias = tuple[str, str, str, str]  # tag and classes, and those of the block around it


class Table(msgspec.Struct, frozen=True):
    """As it is stored. A tree is a list of its leaves from left to right, and of its nodes: measure, border,
    and of its leaves the first one on the left and the first one on the right of the node."""

    threshold: float
    weights: dict[str, dict[str, float]]  # of clues, by where they are
    trees: list[tuple[list[float], list[tuple[int, float, int, int]]]]


class Clues(NamedTuple):
    """Words, with what each weighs: 0.0 where it is unknown."""

    block: dict[str, float]  # of the tag and the names of the block that a run is in
    around: dict[str, float]  # of those of the blocks around it, as far as they do not hold the root
    line: dict[str, float]  # of the names of elements in line
    text: dict[str, float]  # of a short text
    heading: dict[str, float]  # of the heading before it


class RunClues(NamedTuple):
    """Those of a run itself."""

    line: tuple[str, ...]
    text: list[str]
    heading: list[str]


class Model:
    """The table in a form that answers fast.

    Each leaf of a tree is a bit. A measure above the border of a node rules out all leaves on the left of
    that node, and of those that remain in the end the first is the one that a walk down the tree reaches.
    For all trees at once, that is one look-up per measure. All runs of a page are answered measure by
    measure, so that the loops are those of the interpreter.
    """

    __slots__ = ("_bytes", "_every", "_known", "_leaves", "_look_ups", "clues", "threshold")

    def __init__(self, stored: Table) -> None:
        self.threshold = stored.threshold
        self.clues = Clues(**stored.weights)
        self._known: dict[tuple[str, tuple[str, ...]], tuple[float, float]] = {}
        self._bytes = len(stored.trees)
        self._leaves = [[_first_leaf(leaves, bits) for bits in range(256)] for leaves, _ in stored.trees]
        nodes: list[list[tuple[float, int]]] = [[] for _ in MEASURES]
        for tree, (_, splits) in enumerate(stored.trees):
            for measure, border, left, right in splits:
                nodes[measure].append((border, ((1 << right) - (1 << left)) << (8 * tree)))
        self._every = (1 << (8 * self._bytes)) - 1
        self._look_ups = [
            ([border for border, _ in sorted(each)], _remaining(sorted(each), self._every)) for each in nodes
        ]

    def likelihoods(self, rows: Sequence[Sequence[float]]) -> list[float]:
        left = [self._every] * len(rows)
        for (borders, masks), column in zip(self._look_ups, zip(*rows, strict=True), strict=False):
            if borders:
                left = list(
                    map(and_, left, map(masks.__getitem__, map(bisect_left, repeat(borders), column)))
                )
        return [1 / (1 + exp(-sum(map(getitem, self._leaves, self._each(bits))))) for bits in left]

    def _each(self, bits: int) -> bytes:
        """Of each tree."""
        return bits.to_bytes(self._bytes, "little")

    def weights_of(self, block: Block) -> tuple[float, float]:
        """As a run's own block, and as one around it. The blocks of a site share their names."""
        key = block.tag, block.names
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            clues = block_clues(block)
            own, around = self.clues.block, self.clues.around
            known = (
                sum([own.get(clue, 0.0) for clue in clues]),
                sum([around.get(clue, 0.0) for clue in clues]),
            )
            self._known[key] = known
        return known


def _first_leaf(leaves: list[float], bits: int) -> float:
    return leaves[min((bits & -bits).bit_length() - 1, len(leaves) - 1)] if bits else 0.0


def _remaining(nodes: list[tuple[float, int]], every: int) -> list[int]:
    """Of all leaves: above none of the borders, above the first, above the first two, and so on."""
    return list(
        accumulate((ruled_out for _, ruled_out in nodes), lambda left, out: left & ~out, initial=every)
    )


@cache
def model() -> Model:
    path = files("sumi.parse.markdown") / "run_model.json"
    return Model(msgspec.json.decode(path.read_bytes(), type=Table))


class Measured:
    """The runs of one page, each with its numbers and clues. None for what is plainly furniture."""

    def __init__(self, text: PageText, title: str) -> None:
        self.text = text
        self.root = densest(text)
        self.around = frozenset(_with_parents(self.root))
        inside = blocks_within(text, self.root)
        self.is_furniture = [_is_furniture(run, inside) for run in text.runs]
        self._title = frozenset(_WORD.findall(title.lower()))
        self._weigh_kinds()
        self._find_nests()
        self._place()
        prose = [at for at, run in enumerate(text.runs) if run.is_prose and run.block in inside]
        self._first, self._last = (prose[0], prose[-1]) if prose else (0, len(text.runs))
        # Of a paragraph, its words say nothing about what it is.
        self._words = [
            [] if is_furniture or run.length >= _SHORT else _WORD.findall(run.text.lower())
            for run, is_furniture in zip(text.runs, self.is_furniture, strict=True)
        ]

    def _weigh_kinds(self) -> None:
        """A story's paragraphs look alike."""
        kinds: dict[Block, _Kind] = {}
        unlinked: dict[_Kind, int] = {}
        for run in self.text.runs:
            block = run.block
            kind = kinds.get(block)
            if kind is None:
                kind = kinds[block] = _kind(block)
            unlinked[kind] = unlinked.get(kind, 0) + run.length - run.linked
        total = sum(unlinked.values()) or 1
        self._kinds = kinds
        self._kind_shares = {kind: letters / total for kind, letters in unlinked.items()}

    def _find_nests(self) -> None:
        """Of each block, the prose of its own, paragraphs counting as their parent's."""
        self._nests: dict[Block, int] = {}
        for run in self.text.runs:
            if run.is_prose:
                nest = _nest(run)
                self._nests[nest] = self._nests.get(nest, 0) + run.length
        self._prose = sum(self._nests.values()) or 1

    def _place(self) -> None:
        """Of each block, the outermost around it that does not hold the root, and how deep it is."""
        self._depths: dict[Block, int] = {}
        self._branches: dict[Block, Block] = {}
        for block in self.text.blocks:  # parents come first
            parent = block.parent
            is_branch = parent is None or parent in self.around
            self._branches[block] = block if parent is None or is_branch else self._branches[parent]
            self._depths[block] = 0 if parent is None else self._depths[parent] + 1

    def measures(self) -> Iterator[list[float] | None]:
        """Without the clues, which have weights only once the table is learnt."""
        letters, runs = self.text.blocks[0].letters, self.text.runs
        branches: dict[Block, tuple[float, float]] = {}
        before = prose = since_heading = 0
        span = max(1, self._last - self._first)
        last = len(runs) - 1
        links_before, kind_before = 1.0, None
        for at, run in enumerate(runs):
            length = run.length
            block = run.block
            kind = self._kinds[block]
            if self.is_furniture[at]:
                yield None
            else:
                branch = self._branches[block]
                of_branch = branches.get(branch)
                if of_branch is None:
                    of_branch = branches[branch] = self._of_branch(branch)
                parent = block.parent or block
                following = runs[at + 1] if at < last else None
                yield [
                    *of_branch,
                    self._kind_shares[kind],
                    *self._of_block(block),
                    *_of_text(run),
                    before / letters,
                    prose / self._prose,
                    (at - self._first) / span,
                    self._title_share(self._words[at]),
                    links_before,
                    1.0 if following is None else following.linked / following.length,
                    log1p(0 if following is None else following.length),
                    kind == kind_before,
                    following is not None and self._kinds[following.block] == kind,
                    (parent.linked - run.linked) / max(1, parent.letters - length),
                    run.text.rstrip(_QUOTES)[-1:] in _ENDS,
                    run.pictures,
                    log1p(since_heading),
                ]
            before += length
            since_heading = 0 if block.tag in HEADINGS else since_heading + length
            if run.is_prose:
                prose += length
            links_before, kind_before = run.linked / length, kind

    def _of_branch(self, branch: Block) -> tuple[float, float]:
        return branch.linked / max(1, branch.letters), branch.prose / self._prose

    def _of_block(self, block: Block) -> tuple[float, ...]:
        parent = block.parent
        direct = self._nests.get(block, 0)
        if parent is None:
            parent = block
        else:
            direct += self._nests.get(parent, 0)
        return (
            log1p(direct),
            parent.linked / max(1, parent.letters),
            log1p(parent.prose),
            self._depths[block],
        )

    def _title_share(self, words: list[str]) -> float:
        return len([word for word in words if word in self._title]) / len(words) if words else 0.0

    def clues(self) -> Iterator[RunClues]:
        """Of each run in turn."""
        heading: list[str] = []
        for run, words in zip(self.text.runs, self._words, strict=True):
            yield RunClues(run.names if run.length < _SHORT else (), words, heading)
            if run.block.tag in HEADINGS:
                heading = words


def block_clues(block: Block) -> tuple[str, ...]:
    return (block.tag, *block.names)


def _is_furniture(run: Run, inside: set[Block]) -> bool:
    """A link or a few letters outside the root: half of all runs, and hardly ever of a story."""
    if run.block in inside or run.block.tag in HEADINGS:
        return False
    return run.length < _TOO_SHORT or run.linked > _ALL_LINKS * run.length


def _with_parents(block: Block | None) -> Iterator[Block]:
    while block is not None:
        yield block
        block = block.parent


def _kind(block: Block) -> _Kind:
    parent = block.parent
    own = block.tag, block.classes[:_LONGEST_KIND]
    return (*own, "", "") if parent is None else (*own, parent.tag, parent.classes[:_LONGEST_KIND])


def _nest(run: Run) -> Block:
    block = run.block
    return block.parent if block.tag in _IN_PARENT and block.parent is not None else block


def _of_text(run: Run) -> tuple[float, float, float]:
    length = run.length
    points = run.text.count(".") + run.text.count(",")
    return log1p(length), run.linked / length, 100 * points / length


def likelihoods(text: PageText, title: str) -> list[float]:
    """Of each run, from 0 to 1."""
    measured = Measured(text, title)
    learnt = model()
    blocks = _weights_of_blocks(measured, learnt)
    weights = _weights_of_clues(measured, learnt)
    rows = []
    for run, row, weight in zip(text.runs, measured.measures(), weights, strict=True):
        if row is not None:
            row.append(blocks[run.block] + weight)
            rows.append(row)
    found = iter(learnt.likelihoods(rows))
    return [0.0 if is_furniture else next(found) for is_furniture in measured.is_furniture]


def _weights_of_clues(measured: Measured, learnt: Model) -> Iterator[float]:
    """Of each run, of the names in line, of its words and of those of the heading before it."""
    line, text, heading = learnt.clues.line, learnt.clues.text, learnt.clues.heading
    before: list[str] | None = None
    of_heading = 0.0
    for clues in measured.clues():
        if clues.heading is not before:
            before = clues.heading
            of_heading = sum([heading.get(word, 0.0) for word in before])
        of_line = sum([line.get(word, 0.0) for word in clues.line]) if clues.line else 0
        of_text = sum([text.get(word, 0.0) for word in clues.text]) if clues.text else 0
        yield of_line + of_text + of_heading


def _weights_of_blocks(measured: Measured, learnt: Model) -> dict[Block, float]:
    """Of each block, as a run's own and as one around it, with all that are around it in turn."""
    wanted: set[Block] = set()
    for run, is_furniture in zip(measured.text.runs, measured.is_furniture, strict=True):
        block: Block | None = None if is_furniture else run.block
        while block is not None and block not in wanted:
            wanted.add(block)
            block = block.parent
    weights: dict[Block, float] = {}
    around: dict[Block, float] = dict.fromkeys(measured.around, 0.0)
    for block in measured.text.blocks:  # parents come first
        if block in wanted:
            own, as_outer = learnt.weights_of(block)
            if block.parent is not None and block not in around:
                around[block] = around[block.parent] + as_outer
            weights[block] = around[block] + own
    return weights
