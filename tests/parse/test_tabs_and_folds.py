"""Each panel of tabs stands under its label, and what an accordion hides under the button that shows it."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown


def markdown(html: str) -> str:
    page = f"<main><h1>Ink</h1>{html}</main>".encode()
    text = page_markdown(parse_html(page, "utf-8"), "https://e.org/d/p.html").markdown.strip()
    return text.removeprefix("# Ink").strip()


BUTTONS = (
    "<div role=tablist><button role=tab aria-controls=a>A</button>"
    "<button role=tab aria-controls=b>B</button></div>"
    "<div role=tabpanel id=a><p>one</div><div role=tabpanel id=b hidden><p>two</div>"
)
FORMS = {
    "buttons that name their panels": BUTTONS,
    "links in items, panels that name their labels": "<x-tabs><div><ul role=tablist>"
    "<li role=presentation><a role=tab id=t1 href=#p1>A</a><li role=presentation>"
    "<a role=tab id=t2 href=#p2>B</a>"
    "</ul></div><div id=p1 role=tabpanel aria-labelledby=t1><p>one</div>"
    "<div id=p2 role=tabpanel aria-labelledby=t2 hidden><p>two</div></x-tabs>",
    "items and panels in order": "<div><ul role=tablist><li role=tab>A<li role=tab>B</ul>"
    "<div><div role=tabpanel><p>one</div><div role=tabpanel hidden><p>two</div></div></div>",
    "Bootstrap 3": "<ul class='nav nav-tabs'><li><a data-toggle=tab href=#a>A</a><li><a href=#b>B</a></ul>"
    "<div class=tab-content><div class='tab-pane active' id=a><p>one</div>"
    "<div class=tab-pane id=b><p>two</div></div>",
    "Bootstrap 5, in a nav": "<nav><div class='nav nav-tabs' role=tablist>"
    "<button data-bs-target=#a role=tab>A</button><button data-bs-target=#b role=tab>B</button></div></nav>"
    "<div class=tab-content><div id=a class=tab-pane role=tabpanel><p>one</div>"
    "<div id=b class=tab-pane role=tabpanel><p>two</div></div>",
    "switches and labels": "<div class=tab-set><input type=radio id=r><label for=r>A</label>"
    "<div class=tab-content><p>one</div><input type=radio id=s><label for=s>B</label>"
    "<div class=tab-content><p>two</div></div>",
    "panels without a role": "<div role=tablist><button aria-controls=a>A</button><button aria-controls=b>B"
    "</button></div><div id=a><p>one</div><div id=b hidden><p>two</div>",
}


@pytest.mark.parametrize("form", FORMS)
def test_each_panel_stands_under_its_label(form: str) -> None:
    assert markdown(FORMS[form]) == "**A**\n\none\n\n**B**\n\ntwo"


def test_tabs_within_tabs() -> None:
    inner = (
        "<ul role=tablist><li role=tab>C<li role=tab>D</ul>"
        "<div role=tabpanel>c</div><div role=tabpanel>d</div>"
    )
    html = (
        "<ul role=tablist><li role=tab>A<li role=tab>B</ul>"
        f"<div><div role=tabpanel>{inner}</div><div role=tabpanel hidden><p>two</div></div>"
    )
    assert markdown(html) == "**A**\n\n**C**\n\nc\n\n**D**\n\nd\n\n**B**\n\ntwo"


def test_the_only_panel_that_is_there_is_of_the_chosen_label() -> None:
    labels = "<div role=tablist><a role=tab>A</a><a role=tab aria-selected=true>B</a></div>"
    html = f"{labels}<div role=tabpanel>two</div>"
    assert markdown(html) == "**B**\n\ntwo"


def test_labels_without_panels_are_left_as_they_are() -> None:
    assert markdown("<ul role=tablist><li role=tab>A<li role=tab>B</ul><p>text") == "- A\n- B\n\ntext"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            (
                "<div><button aria-expanded=false aria-controls=q>How is it ground?</button>"
                "<div id=q hidden><p>Slowly."
                "</div></div>"
            ),
            "**How is it ground?**\n\nSlowly.",
        ),
        (
            (
                "<div><button aria-expanded=true><span>GET</span><div><span>/ink</span><div>All inks</div>"
                "</div></button>"
                "<button>Copy</button></div><div><p>Returns them.</div>"
            ),
            "**GET /ink All inks**\n\nReturns them.",
        ),
        ("<button class=accordion>Paper</button><div><p>From mulberry.</div>", "**Paper**\n\nFrom mulberry."),
        (
            "<button aria-expanded=true><h3>Paper</h3></button><div><p>From mulberry.</div>",
            "### Paper\n\nFrom mulberry.",
        ),
        ("<button>Copy</button><pre>x</pre>", "```\nx\n```"),
        ("<button aria-expanded=false>Show more</button><p>text", "text"),
        ("<button aria-expanded=false>Paper</button>", ""),
        (
            (
                "<p>text<button aria-expanded=false aria-controls=menu>Ways</button>"
                "<div id=menu hidden>secret</div>"
            ),
            "text",
        ),
    ],
)
def test_a_button_is_the_heading_of_what_it_shows_or_nothing(html: str, expected: str) -> None:
    assert markdown(html) == expected


NAMED_TABS = {
    "data that both name": """<div class=tab-panel><div class=tab-nav>
        <a class=tab-nav-button data-tab-item=a href='#'>Reed</a>
        <a class=tab-nav-button data-tab-item=b href='#'>Brush</a></div>
        <div class=tab-content><div class=tab-item data-tab-item=a><p>Cut it.</div>
        <div class=tab-item data-tab-item=b><p>Wet it.</div></div></div>""",
    "panels that name their labels": """<div class=tabs>
        <div class='ulist tablist'><ul><li id=r><p>Reed</p><li id=b><p>Brush</p></ul></div>
        <div id=r--panel class=tabpanel aria-labelledby=r><p>Cut it.</div>
        <div id=b--panel class=tabpanel aria-labelledby=b><p>Wet it.</div></div>""",
    "order alone": """<div class=tabset><div class=tabset-nav><span>Reed</span><span>Brush</span></div>
        <div class=tabset-panel><p>Cut it.</div><div class=tabset-panel><p>Wet it.</div></div>""",
}


@pytest.mark.parametrize("form", NAMED_TABS)
def test_tabs_that_only_classes_tell_of(form: str) -> None:
    page = f"<main><h1>Ink</h1><p>Text.</p>{NAMED_TABS[form]}</main>".encode()
    text = page_markdown(parse_html(page, "utf-8"), "https://e.org/d/p.html").markdown
    assert text.split("Text.")[1].strip() == "**Reed**\n\nCut it.\n\n**Brush**\n\nWet it."


@pytest.mark.parametrize(
    "html",
    [
        "<div class=tabs><a href=/a>Reed</a><a href=/b>Brush</a></div><p>Cut it.</p><p>Wet it.</p>",
        """<ul class=tab-list><li>Reed</li><li>Brush</li><li>Stone</li></ul>
        <div class=tab-item>Cut it.</div><div class=tab-item>Wet it.</div>""",
    ],
)
def test_a_row_without_as_many_panels_is_no_row_of_tabs(html: str) -> None:
    page = f"<main><h1>Ink</h1><p>Text.</p>{html}</main>".encode()
    text = page_markdown(parse_html(page, "utf-8"), "https://e.org/d/p.html").markdown
    assert "Reed" in text
    assert "**" not in text


def test_a_fold_that_has_nothing_to_show_says_what_it_says() -> None:
    html = (
        "<div><button aria-expanded=true disabled><strong>404 </strong>"
        "<div><p>No such clock</p></div></button></div>"
        "<div><button aria-expanded=true disabled>Copy</button></div>"
    )
    assert markdown(f"<p>Text.</p>{html}") == "Text.\n\n**404 No such clock**"


def test_where_a_long_word_may_break_it_is_still_one() -> None:
    button = "<button aria-expanded=true><span>GET</span><a><span>/clocks<wbr>/{id}</span></a></button>"
    html = f"{button}<div>One.</div>"
    assert markdown(html) == "**GET /clocks/{id}**\n\nOne."
