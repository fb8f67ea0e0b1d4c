"""Whatever third of a page the conversion loses, or leaves out for a name, the fidelity says so."""

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from sumi.model import Kind
from sumi.parse.html import Element, RenderTag, to_markdown
from sumi.parse.markdown import convert, story
from sumi.parse.markdown.text_runs import Block, PageText
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset

WORDS = ("gate", "lock", "key", "chain", "wheel", "water", "level", "boat", "rope", "bank", "mill", "weir")
BLOCKS = ("p", "li", "pre", "tr", "h2", "h3", "dt", "dd")
NAMES = ("related", "comments-area", "cookie-banner", "navbar", "noprint", "page-footer")


def made(seed: int, called: str = "") -> str:
    """A page of prose, lists, tables and code, each framed in another way; a third of it may be in a box that
    is ``called`` something else."""
    random = Random(seed)

    def text(words: int) -> str:
        return " ".join(random.choice(WORDS) + str(random.randrange(1000)) for _ in range(words)) + "."

    parts = []
    for _ in range(random.randrange(9, 13)):
        parts.append(f"<h2>{text(3)}</h2>")
        parts += [f"<p>{text(random.randrange(12, 60))}</p>" for _ in range(random.randrange(1, 4))]
        items = "".join(f"<li>{text(6)}" for _ in range(4))
        rows = "".join(f"<tr><td>{text(2)}<td>{text(3)}" for _ in range(3))
        parts.append(
            random.choice(
                (f"<ul>{items}</ul>", f"<table><tr><th>a<th>b{rows}</table>", f"<pre>{text(9)}</pre>")
            )
        )
    if called:
        third = len(parts) // 3
        start = Random(f"{seed} {called}").randrange(len(parts) - third)
        parts[start : start + third] = [f"<div class={called}>", *parts[start : start + third], "</div>"]
    frame = random.choice(("<main>{}</main>", "<div class=text>{}</div>", "<article>{}</article>", "{}"))
    head = random.choice(("", "<meta property='og:type' content='article'>"))
    links = "".join(f"<li><a href=/{n}>Page {n}</a>" for n in range(random.choice((3, 40))))
    content = frame.format(f"<h1>{text(3)}</h1>{''.join(parts)}")
    return f"<title>t</title>{head}<body><ul class=menu>{links}</ul>{content}<footer>{text(5)}</footer>"


PAGES = {
    **{path.stem: path.read_text() for path in sorted((Path(__file__).parents[1] / "pages").glob("*.html"))},
    **{f"made {seed}": made(seed) for seed in range(15)},
}


def digested(page: str) -> PageDigest:
    found = digest(
        DigestRequest("https://e.org/", page.encode(), "text/html", Kind.PAGE, Preset.MIRROR, markdown=True)
    )
    assert isinstance(found, PageDigest)
    return found


def test_there_are_enough_pages() -> None:
    assert len(PAGES) >= 30


@pytest.mark.parametrize("name", PAGES)
def test_what_the_conversion_loses_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = digested(PAGES[name]).fidelity
    assert whole is not None
    random = Random(name)

    def lossy(root: Element, tags: Mapping[str, RenderTag] | None = None) -> str:
        blocks = [each for each in root.iter_elements(BLOCKS) if each.text.strip()]
        for block in random.sample(blocks, max(1, len(blocks) // 3)):
            block.decompose()
        return to_markdown(root, tags)

    monkeypatch.setattr(convert, "to_markdown", lossy)
    for _ in range(3):
        page = digested(PAGES[name])
        assert page.fidelity is not None
        assert page.fidelity < whole
        assert page.shortfalls


@pytest.mark.parametrize("called", NAMES)
@pytest.mark.parametrize("seed", range(15))
def test_what_is_left_out_for_its_name_alone_is_noticed(seed: int, called: str) -> None:
    page, boxed = digested(made(seed)), digested(made(seed, called))
    assert boxed.fidelity is not None
    assert boxed.markdown == page.markdown or boxed.fidelity < 1.0


def article(seed: int, called: str) -> str:
    """Of the kind whose text is chosen paragraph by paragraph, in a box that is ``called`` something else."""
    random = Random(seed)
    paragraphs = [
        " ".join(random.choice(WORDS) for _ in range(random.randrange(30, 60))) + "." for _ in range(12)
    ]
    links = "".join(f"<li><a href=https://e.org/{n}>Story {n} of a week</a>" for n in range(40))
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    head = "<meta property='og:type' content='article'>"
    return f"<title>Locks</title>{head}<body><ul>{links}</ul><div class='{called}'><h1>Locks</h1>{text}</div>"


@pytest.mark.parametrize("called", ["text", "post share", "story related", "entry comments", "newsletter"])
@pytest.mark.parametrize("seed", range(6))
def test_what_the_choice_of_a_story_loses_is_noticed(
    seed: int, called: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = article(seed, called)
    whole = digested(page)
    assert whole.fidelity == 1.0
    choose = story._settled
    lost: list[int] = []

    def careless(text: PageText, likely: list[float], inside: set[Block]) -> list[bool]:
        kept = choose(text, likely, inside)
        paragraphs = [at for at, run in enumerate(text.runs) if kept[at] and run.is_prose]
        lost.extend(Random(seed).sample(paragraphs, len(paragraphs) // 3))
        return [is_kept and at not in lost for at, is_kept in enumerate(kept)]

    monkeypatch.setattr(story, "_settled", careless)
    found = digested(page)
    assert len(lost) == 4
    assert found.fidelity is not None
    assert found.fidelity < 0.8
    assert found.shortfalls
