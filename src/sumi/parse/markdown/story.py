"""The story of an article: the runs of text that the learnt table finds likely. The rest is taken off.

What manuals are made of is never taken off, should one come here by mistake: code, definitions, chapters and
tables whose columns have names. And a page is left to the rules if most of its densest prose would go.
"""

from collections.abc import Iterator
from itertools import compress
from typing import Final, NamedTuple

from sumi.parse.html import Element
from sumi.parse.markdown import run_model
from sumi.parse.markdown.article import goes_on, is_data_table
from sumi.parse.markdown.left_out import COMMENT, LANDMARK, NAVIGATION, NOTICE, OTHER, LeftOut, kind_of_words
from sumi.parse.markdown.offers import is_offer
from sumi.parse.markdown.text_runs import HEADINGS, Block, PageText, Run, read_text
from sumi.parse.markdown.words import words_in

_WHOLE_TAGS: Final = frozenset({"ul", "ol", "table", "dl", "pre"})  # of which no part is taken off alone
_CONTAINERS: Final = frozenset({"article", "body", "center", "div", "main", "section", "td"})
_LISTS: Final = frozenset({"ul", "ol"})
_MOST_ITEMS: Final = 40
_MOST: Final = 0.5
_ENOUGH_PROSE: Final = 300
_LEAST_OF_PROSE: Final = 0.3  # that is kept; the rest may be comments
_PROSE_WORDS: Final = 25
_LANDMARK_TAGS: Final = frozenset({"aside", "footer", "form", "header", "nav"})


class Story(NamedTuple):
    part: Element  # what holds it
    words_beside: int  # of prose that was taken off for its likelihood alone


def take_story(body: Element, title: str, left_out: LeftOut) -> Story | None:
    """Changes the page, unless it returns None: then it is not clear what the story is."""
    text = read_text(body)
    if text.blocks[0].prose < _ENOUGH_PROSE:
        return None
    measured = run_model.Measured(text, title)
    inside = measured.inside
    kept = _settled(text, run_model.likelihoods(measured), inside)
    if not _is_clear(text, kept, inside):
        return None
    holding = _holding(compress(text.runs, kept))
    staying = _staying(text, holding)
    dropped = [
        run for run, is_kept in zip(text.runs, kept, strict=True) if not is_kept and run.block not in staying
    ]
    # What is called after comments or an offer, and holds text that is kept, is not what it is called.
    kinds: dict[Block | None, str] = {None: "", **dict.fromkeys(holding, "")}
    words_beside = sum(
        [_note(run, _kind_of(run.block, kinds), run.block in inside, left_out) for run in dropped]
    )
    _take_off(text, dropped, holding, staying)
    return Story(_container(text, kept, holding), words_beside)


def _settled(text: PageText, likely: list[float], inside: set[Block]) -> list[bool]:
    """By the threshold, but lists and tables as a whole."""
    threshold = run_model.model().threshold
    wholes = _wholes(text)
    held: dict[Block, float] = {}
    for run, likelihood in zip(text.runs, likely, strict=True):
        whole = wholes[run.block]
        if whole is not None:
            held[whole] = held.get(whole, 0.0) + likelihood * run.length
    kept = []
    is_titled = False
    for run, likelihood in zip(text.runs, likely, strict=True):
        whole = wholes[run.block]
        is_title = not is_titled and run.block.tag == "h1"
        is_titled = is_titled or is_title
        if whole is None:
            is_likely = likelihood > threshold and not is_offer(run.text, run.linked)
            kept.append(is_title or is_likely)
        else:
            is_likely = held[whole] > threshold * whole.letters
            if whole in inside:
                kept.append(is_likely or _is_reference(whole))
            else:
                kept.append(is_likely and kind_of_words(whole.names) != COMMENT)
    return kept


def _wholes(text: PageText) -> dict[Block, Block | None]:
    """Of each block, the outermost list or table around it that is not the layout of the page."""
    most = _MOST * text.blocks[0].prose
    wholes: dict[Block, Block | None] = {}
    for block in text.blocks:  # parents come first
        outer = None if block.parent is None else wholes[block.parent]
        if outer is None and block.tag in _WHOLE_TAGS and (block.prose < most or _is_grid(block)):
            outer = block
        wholes[block] = outer
    return wholes


def _is_grid(block: Block) -> bool:
    return block.tag == "table" and is_data_table(block.element)


def _is_reference(whole: Block) -> bool:
    if whole.tag == "dl":
        return whole.linked <= _MOST * whole.letters
    return whole.tag == "pre" or _is_grid(whole)


def _is_clear(text: PageText, kept: list[bool], inside: set[Block]) -> bool:
    """Whether enough is kept, and most of what is in the densest block."""
    prose = dense = dense_kept = 0
    for run, is_kept in zip(text.runs, kept, strict=True):
        if run.is_prose:
            prose += run.length * is_kept
            if run.block in inside:
                dense += run.length
                dense_kept += run.length * is_kept
    return prose >= _LEAST_OF_PROSE * text.blocks[0].prose and dense_kept >= _MOST * dense


def _holding(kept: Iterator[Run]) -> set[Block]:
    holding: set[Block] = set()
    for run in kept:
        block: Block | None = run.block
        while block is not None and block not in holding:
            holding.add(block)
            block = block.parent
    return holding


def _take_off(text: PageText, dropped: list[Run], holding: set[Block], staying: set[Block]) -> None:
    for run in dropped:
        if run.block in holding:
            for node in run.nodes:
                node.decompose()
    for block in text.blocks:
        if block.parent in holding and block not in holding and block not in staying:
            block.element.decompose()


def _staying(text: PageText, holding: set[Block]) -> set[Block]:
    """What stands beside something kept and is of it, however unlikely: with all that is in it. And a heading
    that nothing but such follows."""
    heirs = _heirs(text, holding)
    staying: set[Block] = set()
    before: Block | None = None
    for block in text.blocks:  # parents come first
        parent = block.parent
        if parent in staying:
            staying.add(block)
            continue
        if parent in holding and block not in holding and _is_of_it(block, heirs[parent]):
            staying.add(block)
            if before is not None and before.parent is parent and before.tag in HEADINGS:
                staying.add(before)
        before = block
    return staying - holding


def _is_of_it(block: Block, heir: Block) -> bool:
    element = block.element
    if kind_of_words(block.names):
        return False
    if goes_on(element, heir.element) or element.attr("role") == "tabpanel":
        return True
    if block.linked:
        return False
    if block.tag in _LISTS:
        return _is_plain_list(block)
    return block.tag == "table" and element.find("th") is not None and _is_grid(block)


def _is_plain_list(block: Block) -> bool:
    """Of several short lines among the paragraphs of the story, such as what to bring."""
    if not 1 < block.runs <= _MOST_ITEMS:
        return False
    beside = block.element.previous_siblings
    before = next((each.tag for each in beside if isinstance(each, Element)), "")
    return before == "p" or before in HEADINGS


def _heirs(text: PageText, holding: set[Block]) -> dict[Block | None, Block]:
    """Of each block that holds something kept, the one in it that holds the most prose; else itself."""
    heirs: dict[Block | None, Block] = {block: block for block in holding}
    for block in text.blocks:
        parent = block.parent
        if parent is None or block not in holding:
            continue
        if heirs[parent] is parent or heirs[parent].prose < block.prose:
            heirs[parent] = block
    return heirs


def _container(text: PageText, kept: list[bool], holding: set[Block]) -> Element:
    """The innermost block that holds all that is kept and is no list and no part of a table but a cell."""
    inner: dict[Block, list[Block]] = {}
    for block in text.blocks[1:]:
        if block in holding and block.parent is not None:
            inner.setdefault(block.parent, []).append(block)
    own = {run.block for run in compress(text.runs, kept)}
    at = container = text.blocks[0]
    while at not in own and len(inner.get(at, ())) == 1:
        at = inner[at][0]
        if at.tag in _CONTAINERS:
            container = at
    return container.element


def _note(run: Run, kind: str, is_inside: bool, left_out: LeftOut) -> int:
    """Counts the run, and returns the words of prose that neither its place nor its name sets apart."""
    words = words_in(run.text)
    kind = kind or (NAVIGATION if run.linked > _MOST * run.length else OTHER)
    left_out.add(kind, words, *run.nodes)
    is_told = kind == OTHER or (kind == NOTICE and is_inside)
    return words if is_told and run.is_prose and words >= _PROSE_WORDS else 0


def _kind_of(block: Block | None, known: dict[Block | None, str]) -> str:
    """By the tag or the names of it, or of the next around it that says anything."""
    way = []
    while block not in known:
        way.append(block)
        block = None if block is None else block.parent
    kind = known[block]
    for each in reversed(way):
        if each is not None:
            own = LANDMARK if each.tag in _LANDMARK_TAGS else kind_of_words(each.names)
            kind = known[each] = own or kind
    return kind
