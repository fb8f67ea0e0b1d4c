"""Tables of divisions, boxes of definition lists and signatures of spans become what they look like."""

import pytest

import sumi

CONTENT = "<h1>Clocks</h1><p>Every clock in the tower is wound by hand on Mondays.</p>"
COLUMNS = """<div class="any two-columns">
<div class="table-header col-first">Field</div><div class="table-header col-last">Meaning</div>
<div class="col-first even"><code><a href="#b">bells</a></code></div>
<div class="col-last even"><div>How many <b>bells</b> hang.</div></div>
<div class="col-first odd"><code>oil</code></div><div class="col-last odd">&nbsp;</div></div>"""
GRID = """<div role=table><div role=rowgroup><div role=row><span role=columnheader>Part</span>
<span role=columnheader>Weight</span></div></div><div role=rowgroup><div role=row>
<div role=cell><p>Barrel</p></div><div role=cell>25 g</div></div></div></div>"""


def of(part: str) -> str:
    markdown = sumi.convert(
        f"<body><main>{CONTENT}{part}</main>".encode(), base_url="https://e.org/"
    ).markdown
    return markdown.partition("Mondays.\n\n")[2]


def test_columns_by_class_are_a_table() -> None:
    assert of(COLUMNS) == (
        "| Field | Meaning |\n| --- | --- |\n"
        "| [`bells`](https://e.org/#b) | How many **bells** hang. |\n| `oil` |  |\n"
    )


def test_a_cell_too_few_is_no_table() -> None:
    assert "|" not in of(COLUMNS.replace('<div class="col-last odd">&nbsp;</div>', ""))


def test_a_table_by_roles_is_one() -> None:
    assert of(GRID) == "| Part | Weight |\n| --- | --- |\n| Barrel | 25 g |\n"


@pytest.mark.parametrize(("kind", "term"), [("note", "Note"), ("warning", "Warning:"), ("todo", "Todo")])
def test_a_list_of_one_kind_is_a_box(kind: str, term: str) -> None:
    assert of(f"<dl class='section {kind}'><dt>{term}</dt><dd>Never stand below.</dd></dl>") == (
        f"> **{term}**\n>\n> Never stand below.\n"
    )


def test_a_glossary_is_none() -> None:
    assert of("<dl class=note><dt>Noted</dt><dd>Written down.</dd></dl>") == "- Noted\n\n  Written down.\n"
    two = "<dl class=note><dt>Note</dt><dd>A sound.</dd><dt>Chord</dt><dd>Several.</dd></dl>"
    assert of(two).startswith("- Note\n")


@pytest.mark.parametrize(
    ("signature", "code"),
    [
        (
            "<div class=member-signature><span>public</span>&nbsp;<span>int</span>\n  <b>wind</b>()</div>",
            "`public int wind()`",
        ),
        ("<div class=x-signature>new <a href=/c>Clock</a>()</div>", "`new `[`Clock`](https://e.org/c)`()`"),
        ("<div class=attr><i class=name>oil</i>(n)</div>", "`oil(n)`"),
    ],
)
def test_signatures_are_code(signature: str, code: str) -> None:
    assert of(signature) == f"{code}\n"


def test_what_holds_blocks_is_no_signature() -> None:
    assert of("<div class=signature><p>Yours,</p><p>the keeper</p></div>") == "Yours,\n\nthe keeper\n"


def test_rows_between_headings_are_lines() -> None:
    table = (
        "<table class=decls><tr><td colspan=2><h2>Functions</h2></td></tr><tr><td>double&nbsp;</td>"
        "<td><a href=/w>wind</a> (int turns)</td></tr><tr><td>&nbsp;</td><td>Winds it.</td></tr></table>"
    )
    assert of(table) == "## Functions\n\ndouble [wind](https://e.org/w) (int turns)\n\nWinds it.\n"


def test_columns_stand_as_the_ends_of_classes_say() -> None:
    cells = "".join(f"<th class=tableHead{side}>{side}</th>" for side in ("None", "Left", "Center", "Right"))
    assert of(f"<table><tr>{cells}</tr><tr><td>1<td>2<td>3<td>4</table>").split("\n")[1] == (
        "| --- | :--- | :---: | ---: |"
    )


def test_columns_whose_cells_have_names_of_their_own() -> None:
    html = COLUMNS.replace('class="col-first even"', 'class="col-bell-name even"').replace(
        'class="col-first odd"', 'class="col-bell-name odd"'
    )
    assert of(html) == of(COLUMNS)


def test_a_signature_in_a_heading_is_code() -> None:
    html = (
        "<h4 class=code-header>pub fn <a href='/wind'>wind</a>(\n    &amp;self,\n    hours: u8)"
        "<div>where T: Oil</div></h4>"
    )
    assert of(html) == "#### `pub fn `[`wind`](https://e.org/wind)`(&self, hours: u8) where T: Oil`\n"


def test_a_signature_that_offers_its_source() -> None:
    html = (
        "<div><div class='method-heading'><span class=name>wind_up</span><span>(hours)</span> "
        "<span class=advice>click to toggle source</span></div><div class=text><p>Winds it.</p>"
        "<div class=method-source id=s> <pre><span># clock.rb</span>\ndef wind_up(hours); end</pre></div>"
        "</div></div>"
    )
    assert of(html) == "`wind_up(hours)`\n\nWinds it.\n"
    assert "# clock.rb" in of(html.replace("<span class=advice>click to toggle source</span>", ""))


def test_a_decorator_above_a_signature() -> None:
    html = (
        "<div class='attr function'><div class='decorator'>@classmethod</div> <span class=def>def</span>\n"
        "<span class=name>wind_up</span><span>(cls)</span>:</div>"
    )
    assert of(html) == "`@classmethod`\n\n`def wind_up(cls):`\n"


def test_links_that_say_something_only_when_pointed_at() -> None:
    html = (
        "<p>Stops. <a href='clock.html#stop'>More...</a></p>"
        "<p><a href='#' title='This one panics'>ⓘ</a> Runs.</p>"
    )
    assert of(html) == "Stops.\n\n(This one panics) Runs.\n"


def test_labels_that_only_a_style_sheet_keeps_apart() -> None:
    html = (
        "<div><label class=name>hours</label><span class=type>integer</span>"
        "<span class=must>required</span></div>"
        "<div><span class=a>Un</span><span class=a>wind</span></div><div><span class=cap>O</span>"
        "<span class=rest>il</span></div>"
    )
    assert of(html) == "hours integer required\n\nUnwind\n\nOil\n"
