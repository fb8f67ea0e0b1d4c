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
_NO_WORDS: Final[list[str]] = []
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

    __slots__ = ("_bytes", "_every", "_known", "_leaves", "_look_ups", "_of_names", "clues", "threshold")

    def __init__(self, stored: Table) -> None:
        self.threshold = stored.threshold
        self.clues = Clues(**stored.weights)
        own, around = self.clues.block, self.clues.around
        self._of_names = {
            clue: (own.get(clue, 0.0), around.get(clue, 0.0)) for clue in own.keys() | around.keys()
        }
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
            own = around = 0.0
            weights = self._of_names
            for clue in block_clues(block):
                if clue in weights:
                    as_own, as_outer = weights[clue]
                    own += as_own
                    around += as_outer
            known = self._known[key] = own, around
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
        self.inside = inside = blocks_within(text, self.root)
        # A link or a few letters outside the root: half of all runs, and hardly ever of a story.
        self.is_furniture = [
            (run.length < _TOO_SHORT or run.linked > _ALL_LINKS * run.length)
            and run.block not in inside
            and run.block.tag not in HEADINGS
            for run in text.runs
        ]
        self._title = frozenset(_WORD.findall(title.lower()))
        self._weigh_kinds()
        self._find_nests()
        prose = [at for at, run in enumerate(text.runs) if run.is_prose and run.block in inside]
        self._first, self._last = (prose[0], prose[-1]) if prose else (0, len(text.runs))
        # Of a paragraph, its words say nothing about what it is.
        self.words = [
            _NO_WORDS if is_furniture or run.length >= _SHORT else _WORD.findall(run.text.lower())
            for run, is_furniture in zip(text.runs, self.is_furniture, strict=True)
        ]

    def _weigh_kinds(self) -> None:
        """A story's paragraphs look alike."""
        of_block: dict[Block, _Kind] = {}
        kinds: list[_Kind] = []
        unlinked: dict[_Kind, int] = {}
        total = 0
        for run in self.text.runs:
            block = run.block
            kind = of_block.get(block)
            if kind is None:
                kind = of_block[block] = _kind(block)
            kinds.append(kind)
            own = run.length - run.linked
            unlinked[kind] = unlinked.get(kind, 0) + own
            total += own
        self._kinds = kinds
        self._kind_shares = {kind: letters / (total or 1) for kind, letters in unlinked.items()}

    def _find_nests(self) -> None:
        """Of each block, the prose of its own, paragraphs counting as their parent's."""
        self._nests: dict[Block, int] = {}
        for run in self.text.runs:
            if run.is_prose:
                nest = _nest(run)
                self._nests[nest] = self._nests.get(nest, 0) + run.length
        self._prose = sum(self._nests.values()) or 1

    def measures(self) -> Iterator[list[float] | None]:
        """Without the clues, which have weights only once the table is learnt."""
        runs, kinds, words, shares = self.text.runs, self._kinds, self.words, self._kind_shares
        letters, total, first = self.text.blocks[0].letters, self._prose, self._first
        branches: dict[Block, tuple[float, float]] = {}
        of_blocks: dict[Block, tuple[float, ...]] = {}
        before = prose = since_heading = 0
        span = max(1, self._last - first)
        last = len(runs) - 1
        links_before, kind_before = 1.0, None
        for at, (run, is_furniture) in enumerate(zip(runs, self.is_furniture, strict=True)):
            length, linked = run.length, run.linked
            if is_furniture:
                yield None
            else:
                block = run.block
                kind = kinds[at]
                of_block = of_blocks.get(block)
                if of_block is None:
                    of_block = of_blocks[block] = (
                        *self._of_branch(block, branches),
                        shares[kind],
                        *self._of_block(block),
                    )
                parent = block.parent or block
                links_after, letters_after, is_like_after = 1.0, 0, False
                if at < last:
                    following = runs[at + 1]
                    letters_after = following.length
                    links_after = following.linked / letters_after
                    is_like_after = kinds[at + 1] == kind
                text = run.text
                yield [
                    *of_block,
                    log1p(length),
                    linked / length,
                    100 * (text.count(".") + text.count(",")) / length,
                    before / letters,
                    prose / total,
                    (at - first) / span,
                    self._title_share(words[at]),
                    links_before,
                    links_after,
                    log1p(letters_after),
                    kind == kind_before,
                    is_like_after,
                    (parent.linked - linked) / max(1, parent.letters - length),
                    text.rstrip(_QUOTES)[-1:] in _ENDS,
                    run.pictures,
                    log1p(since_heading),
                ]
            before += length
            since_heading = 0 if run.block.tag in HEADINGS else since_heading + length
            if run.is_prose:
                prose += length
            links_before, kind_before = linked / length, kinds[at]

    def _of_branch(self, block: Block, known: dict[Block, tuple[float, float]]) -> tuple[float, float]:
        """Of the outermost block around it that does not hold the root."""
        branch = block
        while branch.parent is not None and branch.parent not in self.around:
            branch = branch.parent
        found = known.get(branch)
        if found is None:
            found = known[branch] = branch.linked / max(1, branch.letters), branch.prose / self._prose
        return found

    def _of_block(self, block: Block) -> tuple[float, ...]:
        parent = block.parent
        direct = self._nests.get(block, 0)
        if parent is None:
            parent = block
        else:
            direct += self._nests.get(parent, 0)
        return log1p(direct), parent.linked / max(1, parent.letters), log1p(parent.prose), block.depth

    def _title_share(self, words: list[str]) -> float:
        if not words:
            return 0.0
        title = self._title
        return sum([word in title for word in words]) / len(words)

    def clues(self) -> Iterator[RunClues]:
        """Of each run in turn."""
        heading = _NO_WORDS
        for run, words in zip(self.text.runs, self.words, strict=True):
            yield RunClues(run.names if run.length < _SHORT else (), words, heading)
            if run.block.tag in HEADINGS:
                heading = words


def block_clues(block: Block) -> tuple[str, ...]:
    return (block.tag, *block.names)


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


def likelihoods(measured: Measured) -> list[float]:
    """Of each run, from 0 to 1."""
    learnt = model()
    blocks = _weights_of_blocks(measured, learnt)
    weights = _weights_of_clues(measured, learnt)
    rows = []
    for run, row, weight in zip(measured.text.runs, measured.measures(), weights, strict=True):
        if row is not None:
            row.append(blocks[run.block] + weight)
            rows.append(row)
    found = iter(learnt.likelihoods(rows))
    return [0.0 if is_furniture else next(found) for is_furniture in measured.is_furniture]


def _weights_of_clues(measured: Measured, learnt: Model) -> list[float]:
    """Of each run, of the names in line, of its words and of those of the heading before it."""
    line, text, heading = learnt.clues.line, learnt.clues.text, learnt.clues.heading
    of_heading = 0.0
    weights = []
    for run, words in zip(measured.text.runs, measured.words, strict=True):
        weight = of_heading
        if words:
            weight = sum([text[word] for word in words if word in text]) + of_heading
        if run.names and run.length < _SHORT:
            weight += sum([line[word] for word in run.names if word in line])
        weights.append(weight)
        if run.block.tag in HEADINGS:
            of_heading = sum([heading[word] for word in words if word in heading])
    return weights


def _weights_of_blocks(measured: Measured, learnt: Model) -> dict[Block, float]:
    """Of each block that holds a run, as the run's own, with all that are around it in turn."""
    weights: dict[Block, float] = {}
    around: dict[Block, float] = dict.fromkeys(measured.around, 0.0)
    weights_of = learnt.weights_of
    for run, is_furniture in zip(measured.text.runs, measured.is_furniture, strict=True):
        block = run.block
        if is_furniture or block in weights:
            continue
        way = []
        outer = block
        while outer not in around and outer.parent is not None:
            way.append(outer)
            outer = outer.parent
        weight = around.get(outer, 0.0)
        for each in reversed(way):
            weight = around[each] = weight + weights_of(each)[1]
        weights[block] = weight + weights_of(block)[0]
    return weights
