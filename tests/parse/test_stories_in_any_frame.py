"""No story is lost, or lost silently, whatever it is wrapped in, called and interrupted by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.markdown.fidelity import judge

SENTENCES = (
    "The harbour was closed on Tuesday after the ice had broken two of five moorings, and nobody was hurt",
    "Der Hafen wurde am Dienstag geschlossen, weil das Eis zwei von fünf Ankerplätzen zerstört hatte",
    "Le port a été fermé mardi, après que la glace avait brisé deux de ses cinq amarres dans la nuit",
    "港口在星期二关闭,因为冰块夜里破坏了五个泊位中的两个,没有人受伤,市长感谢所有帮忙的人,船只必须在外面等待",
    "Порт был закрыт во вторник, после того как лёд сломал два из пяти причалов, и никто не пострадал",
)
ENDS = "{}, says witness number {}, who stood at the quay with a lamp and a rope until the morning came."
TAGS = ("div", "div", "section", "article", "main", "center", "x-story", "td")
NAMES = (
        "", "share", "ads", "paywall", "teaser", "comments", "popup", "newsletter", "related", "modal",
        "sidebar", "post share-bar", "article-body", "content ad-free", "recommended story",
        "cookie", "Werbung", "beitrag-teaser", "social entry", "sponsored", "subscribe-wall", "promo text",
)  # fmt: skip
# An aside or a footer with a part of the text is what it says; with all of it, it is the text.
WRAPPERS_OF_PARTS = st.lists(
    st.tuples(st.sampled_from(TAGS), st.sampled_from(NAMES), st.booleans()), max_size=4
)
WRAPPERS = st.lists(
    st.tuples(st.sampled_from((*TAGS, "aside")), st.sampled_from((*NAMES, "footer-top")), st.booleans()),
    max_size=4,
)
ADS = st.sampled_from(
    (
        "",
        "<div class=ad><a href=https://ads.example/1>Buy boots now</a></div>",
        "<aside class=newsletter><p>Our letter</p><form><input><button>Join</button></form></aside>",
        "<ul class=related><li><a href=/a>Another story</a><li><a href=/b>And one more</a></ul>",
        "<figure><img src=/i.jpg><figcaption>The quay at night</figcaption></figure>",
    )
)
LINKS = "".join(f"<li><a href=https://e.org/{n}>Story {n} of a very long week</a>" for n in range(40))
HEADS = st.sampled_from(
    (
        "",
        "<meta property=og:type content=article>",
        '<script type="application/ld+json">{"@type":"NewsArticle"}</script>',
    )
)
FRAMES = st.sampled_from(
    ("{}", "<p>Home of the harbour</p>{}", f"<ul>{LINKS}</ul>{{}}", f"{{}}<ul>{LINKS}</ul>")
)


def wrapped(inner: str, wrappers: list[tuple[str, str, bool]]) -> str:
    for tag, name, is_id in wrappers:
        called = f" {'id' if is_id else 'class'}='{name}'" if name else ""
        inner = (
            f"<table><tr><td{called}>{inner}</table>" if tag == "td" else f"<{tag}{called}>{inner}</{tag}>"
        )
    return inner


@st.composite
def pages(draw: st.DrawFn) -> tuple[str, list[str]]:
    sentence = draw(st.sampled_from(SENTENCES))
    story = [ENDS.format(sentence, number) for number in range(draw(st.integers(5, 9)))]
    paragraphs = [f"<p>{paragraph}</p>{draw(ADS)}" for paragraph in story]
    cut = draw(st.sampled_from((0, len(story) // 2)))  # a small part in a box of its own is a box
    title = draw(st.sampled_from(("", "<h1>Ice</h1>", "<header><h1>Ice</h1></header>")))
    parts = [
        wrapped("".join(part), draw(WRAPPERS_OF_PARTS))
        for part in (paragraphs[:cut], paragraphs[cut:])
        if part
    ]
    body = draw(FRAMES).format(wrapped(title + "".join(parts), draw(WRAPPERS)))
    return f"<title>Ice</title>{draw(HEADS)}<body>{body}", story


@given(pages())
def test_every_paragraph_is_kept_or_its_loss_is_told(page: tuple[str, list[str]]) -> None:
    html, story = page
    markdown, expected = page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/")
    assert expected is not None
    fidelity = judge(expected, markdown)
    assert fidelity is not None
    plain = " ".join(markdown.split())
    kept = [paragraph for paragraph in story if paragraph in plain]
    assert kept
    assert len(kept) == len(story) or fidelity.score < 1.0


@pytest.mark.parametrize(
    "frame",
    [
        "<div class=related>{}</div><div class=related>{}</div>",
        "<aside>{}{}</aside>",
        "<aside><div class=related>{}{}</div></aside>",
        "<div class=related><aside>{}{}</aside></div>",
        f"<ul>{LINKS}</ul><div class=related><aside>{{}}{{}}</aside></div>",
    ],
)
def test_a_story_that_is_all_there_is_stays(frame: str) -> None:
    story = [ENDS.format(SENTENCES[0], number) for number in range(8)]
    halves = ["".join(f"<p>{text}</p>" for text in half) for half in (story[:4], story[4:])]
    html = f"<title>Ice</title><body>{frame.format(*halves)}"
    markdown = page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/").markdown
    assert all(text in markdown for text in story)
