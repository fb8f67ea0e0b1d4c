"""What is not in the Markdown is counted by what it was in. If it looks like content, the fidelity falls."""

import pytest

from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset

TEXT = "".join(
    f"<p>The lock of gate number {n} has two keys, and both of them turn left.</p>" for n in range(9)
)
PROSE = "<p>" + "Thirty words that say what no other part of this page says, and say it well. " * 2 + "</p>"


def asked(body: str) -> PageDigest:
    result = digest(
        DigestRequest("https://e.org/", body.encode(), "text/html", Kind.PAGE, Preset.MIRROR, markdown=True)
    )
    assert isinstance(result, PageDigest)
    return result


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ("<nav>three more words</nav>", "landmark"),
        ("<footer>three more words</footer>", "landmark"),
        ("<div role=search>three more words</div>", "landmark"),
        ("<div class=navbar>three more words</div>", "navigation"),
        ("<div class='cookie-banner'>three more words</div>", "notice"),
        ("<div class=comments-area>three more words</div>", "comment"),
        ("<p hidden>three more words</p>", "hidden"),
        ("<noscript>three more words</noscript>", "script"),
    ],
)
@pytest.mark.parametrize("root", ["<body>{}", "<body><main>{}</main>"])
def test_words_are_counted_by_what_they_were_in(part: str, kind: str, root: str) -> None:
    page = asked(root.format(f"<h1>Locks</h1>{TEXT}{part}"))
    assert "three more words" not in (page.markdown or "")
    assert page.left_out == {kind: 3}
    assert page.fidelity == 1.0


def test_what_stands_beside_a_landmark_is_counted() -> None:
    beside = "<div class=slogan>three more words</div><div><a href=/x>two words</a></div>"
    assert asked(f"<body><main>{TEXT}</main>{beside}").left_out == {"other": 3, "navigation": 2}


def test_a_page_that_is_kept_whole_leaves_nothing_out() -> None:
    assert asked(f"<main><h1>Locks</h1>{TEXT}</main>").left_out == {}


@pytest.mark.parametrize("name", ["related", "navigation", "comments-area", "cookie-banner", "noprint"])
def test_prose_that_only_its_name_sets_apart_lowers_the_fidelity(name: str) -> None:
    page = asked(f"<body><main><h1>Locks</h1>{TEXT}<div class={name}>{PROSE}</div></main>")
    assert "Thirty words" not in (page.markdown or "")
    assert page.fidelity is not None
    assert page.fidelity < 1.0


def test_several_comments_are_comments() -> None:
    comments = f"<div class=comments-area><ol><li>{PROSE}<li>{PROSE}</ol></div>"
    page = asked(f"<body><main><h1>Locks</h1>{TEXT * 2}{comments}</main>")
    assert "Thirty words" not in (page.markdown or "")
    assert page.left_out == {"comment": 64}
    assert page.fidelity == 1.0


def test_of_boxes_within_each_other_the_outermost_says_what_is_left_out() -> None:
    """Wherever in memory they happen to be."""
    thread = "".join(f"<div class=comment><form>{PROSE}</form></div>" for _ in range(6))
    story = f"<article><h1>Locks</h1>{PROSE * 9}</article><div class=comments>{thread}</div>"
    for _ in range(20):
        page = asked(f"<meta property=og:type content=article><body><main>{story}</main>")
        assert page.left_out == {"comment": 192}
