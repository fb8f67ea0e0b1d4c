"""Every visible word of a page is in its Markdown, or counted in a named class of what was left out."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.markdown.left_out import COMMENT, HIDDEN, LANDMARK, NAVIGATION, NOTICE, OTHER, SCRIPT, LeftOut

CLASSES = {LANDMARK, NAVIGATION, NOTICE, COMMENT, HIDDEN, SCRIPT, OTHER}
HEADS = ("", '<meta property="og:type" content="article">')
BLOCKS = (
    "<p>{}</p>",
    "<h2>{}</h2>",
    "<ul><li>{}<li>{}</ul>",
    "<p><a href=/x>{}</a> {} <em>{}</em></p>",
    "<table><tr><th>{}<th>{}<tr><td>{}<td>{}</table>",
    "<pre><code>{}</code></pre>",
    "<dl><dt>{}<dd>{}</dl>",
    "<blockquote>{}</blockquote>",
    "<figure><img src=/i.png><figcaption>{}</figcaption></figure>",
    "<nav>{}</nav>",
    "<form>{} <select><option>{}</select></form>",
    "<details><summary>{}</summary>{}</details>",
    "<noscript>{}</noscript>",
    "<p hidden>{}</p>",
    " {} ",
)
FRAMES = (
    "<div>{}</div>",
    "<main>{}</main>",
    "<article>{}</article>",
    "<section>{}</section>",
    "<header>{}</header>",
    "<footer>{}</footer>",
    "<aside>{}</aside>",
    "<div class=related>{}</div>",
    "<div class=comments-area>{}</div>",
    "<div class=cookie-banner>{}</div>",
    "<div class='entry share'>{}</div>",
    "<div class=navbar>{}</div>",
    "<div role=dialog>{}</div>",
    "<dialog>{}</dialog>",
    "<div id=footer>{}</div>",
)
PART = st.tuples(
    st.sampled_from(FRAMES), st.lists(st.tuples(st.sampled_from(BLOCKS), st.integers(1, 40)), max_size=4)
)
_WORD = re.compile(r"w\d+x")


def page_of(parts: list[tuple[str, list[tuple[str, int]]]]) -> str:
    """Each word of it but once."""
    number = 0
    page = ""
    for frame, blocks in parts:
        inner = ""
        for block, words in blocks:
            texts = []
            for _ in range(block.count("{}")):
                texts.append(" ".join(f"w{at}x" for at in range(number, number + words)))
                number += words
            inner += block.format(*texts)
        page += frame.format(inner)
    return page


@given(st.sampled_from(HEADS), st.lists(PART, max_size=6))
@example(HEADS[0], [("<main>{}</main>", [("<p>{}</p>", 1)]), ("<div>{}</div>", [("{}", 1)])])
@example(HEADS[1], [(frame, [("<p>{}</p>", 30), ("<h2>{}</h2>", 3)]) for frame in FRAMES])
def test_every_word_is_kept_or_counted(head: str, parts: list[tuple[str, list[tuple[str, int]]]]) -> None:
    page = page_of(parts)
    left_out = LeftOut()
    markdown = page_markdown(
        parse_html(f"{head}<body>{page}".encode(), "utf-8"), "https://e.org/", left_out
    ).markdown
    kept, all_words = set(_WORD.findall(markdown)), set(_WORD.findall(page))
    assert len(all_words) == len(kept) + sum(left_out.words.values())
    assert set(left_out.words) <= CLASSES
