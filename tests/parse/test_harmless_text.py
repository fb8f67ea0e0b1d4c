"""What a page says is kept, and what would act on a terminal or deceive a reader is not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.parse.page.text import harmless
from sumi.policy import Preset

HARM = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e001f]|\r(?!\n)"
)
FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"  # of England

CHANGED = {
    "\x1b[31mred\x1b[0m": "\ufffd[31mred\ufffd[0m",
    "bell\x07 back\x08": "bell\ufffd back\ufffd",
    "\x9b31m C1 \x85": "\ufffd31m C1 \ufffd",
    "access\u202eetirw\u202c": "accessetirw",
    "if x:\u2066# \u2069 y": "if x:#  y",
    "hidden\U000e0068\U000e0069": "hidden",
    "page\x0cbreak\u2028line": "page break line",
    "over\rwritten": "over\nwritten",
    "\ufeffmark\ufff9": "mark",
}
KEPT = [
    "می\u200cخواهم",
    "क्\u200dष",
    "👩\u200d👩\u200d👧",
    FLAG,
    "abc\u200f\u200eאבג",
    "so\u00adft, long\u200bword, \u061c",
    "a\tb\nc\r\nd",
    "é ’ “ ” — … \xa0 \u2060",
]


@pytest.mark.parametrize("text", CHANGED)
def test_what_acts_on_a_reader_is_shown_or_taken_out(text: str) -> None:
    assert harmless(text) == CHANGED[text]


@pytest.mark.parametrize("text", KEPT)
def test_what_languages_need_stays(text: str) -> None:
    assert harmless(text) == text


@given(st.text())
def test_nothing_harmful_is_left_and_nothing_visible_is_lost(text: str) -> None:
    made = harmless(text)
    assert not HARM.search(made)
    assert harmless(made) == made
    visible = [char for char in text if char.isprintable() and char != "\ufffd"]
    assert [char for char in made if char in visible and char != " "] == [
        char for char in visible if char != " "
    ]


def digested(html: str, content_type: str = "text/html; charset=utf-8") -> PageDigest:
    request = DigestRequest(
        "http://a.test/", html.encode(), content_type, Kind.PAGE, Preset.MIRROR, markdown=True
    )
    result = digest(request)
    assert isinstance(result, PageDigest)
    return result


EVIL = "\x1b]0;owned\x07 \x1b[2J \x9b2J \u202ereversed\u202c \u2066isolated\u2069 \U000e0041\U000e0042"
PAGE = f"""<title>A title {EVIL}</title><meta name=description content="Described {EVIL}">
<main><h1>Heading {EVIL}</h1><p>A paragraph {EVIL} with words.</p><ul><li>item {EVIL}</ul>
<table><tr><th>a<th>b<tr><td>{EVIL}<td>c</table><pre><code>x = 1 {EVIL} # end</code></pre>
<p><img src=/i.png alt="alt {EVIL}"> <a href=/x title="{EVIL}">link {EVIL}</a></main>"""


def test_a_page_loses_nothing_else_and_its_fidelity_is_whole() -> None:
    page = digested(PAGE)
    for text in (page.markdown, page.title, page.description):
        assert text
        assert not HARM.search(text), text
    assert page.markdown
    assert "reversed isolated" in page.markdown
    assert "x = 1 \ufffd]0;owned\ufffd" in page.markdown
    assert (page.fidelity, page.shortfalls) == (1.0, [])


def test_a_sites_own_markdown_is_made_harmless_too() -> None:
    page = digested(f"# Heading {EVIL}\n\nText {EVIL}\n", "text/markdown; charset=utf-8")
    assert page.markdown
    assert not HARM.search(page.markdown)
    assert "reversed isolated" in page.markdown
