"""What pages offer beside their text goes, by whatever name; a text that only looks like it stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sumi

TEXT = "<h1>Clocks</h1><p>Every clock in the tower is wound by hand on Mondays.</p>"
MORE = "<h2>Oil</h2><p>One drop is enough for the arbor of the barrel.</p>"

TOOLS = {
    "settings": (
        "<details><summary><h3>Settings</h3></summary><div><span>Visible members</span><ul><li><label>"
        "<input type=checkbox name=own checked><span>Inherited</span></label></ul></div></details>"
    ),
    "choice of colours": (
        "<details><summary>Colours</summary><label for=c>Theme</label><select id=c></select></details>"
    ),
    "own headings in a fold": (
        "<details open><summary><h3>On This Page</h3></summary><details open><summary>Oil</summary>"
        "<a href=#oil><span>Oil</span></a></details></details>"
    ),
    "own headings": "<div><h4>Auf dieser Seite</h4><ul><li><a href=#oil>Oil</a></ul></div>",
    "label of a bar": "<div><div>On this page</div><nav><a href=#oil>Oil</a></nav></div>",
    "label above a bar": "<div><div><h2>Contents</h2></div><nav><a href=#oil>Oil</a></nav></div>",
    "question": "<div class=x9><p>Was this page helpful?</p><button>Yes</button><button>No</button></div>",
    "question of links": "<div>War diese Seite hilfreich? <a href=#>Ja</a> <a href=#>Nein</a></div>",
    "next": "<div class=n><a href=/b>Next Page</a></div>",
    "next and previous": "<p><a href=/a>« Previous</a> <a href=/b>Next: Oil and dust »</a></p>",
    "breadcrumb": "<ul class=my-breadcrumb><li><a href=/>Tower</a><li>Clocks</ul>",
    "pages": "<div class=pagination><a href=/1>1</a> <a href=/2>2</a></div>",
    "titles with arrows": "<div class=pn><a href=/a>← Dials</a> <a href=/b>Oil and dust →</a></div>",
    "a title with an arrow": "<div class='x pager-next'><a href=/b>Oil and dust »</a></div>",
    "question under a heading": (
        "<div class=fb><h2>Feedback</h2><p>Was this page helpful?</p>"
        "<button>Yes</button><button>No</button></div>"
    ),
    "consent": "<div class=bar id=c><p>We use cookies to count visitors.</p><button>Accept</button></div>",
    "menu": "<ul class=dropdown-menu><li><a href=/p.md>.md</a><li><button>.pdf</button></ul>",
    "title for print": "<div class=onlyprint><h1>Clocks</h1></div>",
}

TEXTS = {
    "fold of a list of tasks": (
        "<details><summary>Tasks</summary><ul><li><input type=checkbox disabled> Clean it</ul></details>"
    ),
    "chapter of that name": "<h2>On this page</h2><p>On this page of the ledger are the prices of oil.</p>",
    "links to other pages": "<div><h3>On this page</h3><ul><li><a href=/oil>Oil of bones</a></ul></div>",
    "contents of a box": "<h2>Contents</h2><ul><li>Two springs<li>One key</ul>",
    "interview": "<p>Was this page of the ledger helpful to the court? Yes, said the clerk.</p>",
    "function called next": "<ul><li><a href=#n>next</a>() returns the following tooth</ul>",
    "sentence": "<p><a href=/b>Next: the hammer</a> is lifted by the wheel that drives the train.</p>",
    "title in a breadcrumb": "<div class=page-breadcrumb><a href=/>Tower</a><h1>Pendulums</h1></div>",
    "story for print": "<div class=print-only><p>Every hour is struck on the great bell.</p></div>",
    "pages of text": "<div class=pager><p>A pager is a bell that is worn at the belt.</p></div>",
}


def of(part: str, *, is_first: bool = False) -> str:
    parts = (part, TEXT, MORE) if is_first else (TEXT, MORE, part)
    return f"<title>t</title><body>{''.join(parts)}</body>"


PLAIN = sumi.convert(of("").encode()).markdown


@pytest.mark.parametrize("name", TOOLS)
def test_tools_are_left_out_and_told(name: str) -> None:
    found = sumi.convert(of(TOOLS[name]).encode())
    assert found.markdown == PLAIN
    assert sum(found.left_out.values())
    assert found.fidelity == 1.0


@pytest.mark.parametrize("name", TEXTS)
def test_what_only_looks_like_a_tool_is_kept(name: str) -> None:
    found = sumi.convert(of(TEXTS[name]).encode())
    assert found.left_out == {}
    assert found.markdown.startswith(PLAIN.strip())
    assert len(found.markdown) > len(PLAIN)


@given(st.sampled_from(sorted(TOOLS)), st.sampled_from(sorted(TOOLS)), st.booleans())
def test_tools_do_not_take_the_text_with_them(one: str, other: str, is_first: bool) -> None:
    page = of(TOOLS[one], is_first=is_first).replace("</body>", f"{TOOLS[other]}</body>")
    markdown = sumi.convert(page.encode()).markdown
    for sentence in ("Every clock in the tower", "## Oil", "One drop is enough"):
        assert sentence in markdown


def test_source_behind_a_box_is_hidden() -> None:
    page = of(
        "<div><input id=v type=checkbox><div class=attr><span class=def>def</span> "
        "<span class=name>wind</span><span class=signature>(turns: <b>int</b>)</span>\n "
        "<label for=v><span>View Source</span></label></div>"
        "<div><pre>def wind(turns):\n    return turns</pre></div><p>Winds it.</p></div>"
    )
    found = sumi.convert(page.encode())
    assert found.markdown.endswith("`def wind(turns: int)`\n\nWinds it.\n")
    assert found.left_out == {"hidden": 6}


@pytest.mark.parametrize("name", ["impl-T", "a%3CT%3E", "§5"])
def test_a_sign_knows_itself_however_its_address_is_written(name: str) -> None:
    page = of(f"<section id='{name}'><a href='#{name}'>§</a><h3>Clock</h3><p>It ticks.</p></section>")
    assert "§" not in sumi.convert(page.encode()).markdown


def test_signs_that_lead_to_themselves_go() -> None:
    page = of(
        "<section id=impl><a class=anchor href=#impl>§</a><a class='src right' href=../lib.html>Source</a>"
        "<h3>impl Clock</h3></section><p>See <a href=#impl>§</a> 5 of the <a href=/src>Source</a>.</p>"
    )
    markdown = sumi.convert(page.encode(), base_url="https://e.org/").markdown
    assert "### impl Clock" in markdown
    assert markdown.count("§") == 1
    assert markdown.endswith("of the [Source](https://e.org/src).\n")


@pytest.mark.parametrize(
    "crumbs",
    [
        "<div class=t><a href=/>Tower</a> &gt; <span>Clocks</span></div>",
        "<p><a href=/>Tower</a> / <a href=/p>Parts</a> / Clocks</p>",
        "<div><div>You are here: <a href=/>Tower</a> » Clocks</div></div>",
    ],
)
def test_a_trail_of_links_that_ends_with_the_title(crumbs: str) -> None:
    page = f"<body><div>{crumbs}<div>{TEXT}{MORE}</div></div>"
    assert sumi.convert(page.encode(), base_url="https://e.org/").markdown.startswith("# Clocks")


@pytest.mark.parametrize(
    "line",
    [
        "<p>By <a href=/anna>Anna</a>, who keeps the Clocks</p>",
        "<p><a href=/>Tower</a>: all about its Clocks</p>",
        "<p>Clocks</p>",
    ],
)
def test_a_line_before_the_title_that_says_more_than_the_way(line: str) -> None:
    page = f"<body><main>{line}{TEXT}{MORE}</main>"
    assert "Clocks\n\n# Clocks" in sumi.convert(page.encode(), base_url="https://e.org/").markdown


@pytest.mark.parametrize(
    "end",
    [
        "<p><a href=/b>Read about oil →</a></p>",
        "<div><a href=/a>Read about dials →</a> <a href=/b>Read about oil →</a></div>",
        "<div><p>A recipe for cookies, with butter.</p><button>Print</button></div>",
    ],
)
def test_links_that_lead_on_in_the_text(end: str) -> None:
    page = f"<body><main>{TEXT}{MORE}{end}</main>"
    kept = sumi.convert(page.encode(), base_url="https://e.org/").markdown
    assert "Read about oil" in kept or "with butter" in kept


def test_a_picture_that_leads_to_the_next_page() -> None:
    bar = "<hr><a href=/a><img src=n.gif alt=Next></a> <a href=/b>Dust</a>, the third part."
    page = f"<body><main>{TEXT}{MORE}<p>{bar}</p></main>"
    kept = sumi.convert(page.encode(), base_url="https://e.org/").markdown
    assert "Next" not in kept
    assert kept.endswith("[Dust](https://e.org/b), the third part.\n")
