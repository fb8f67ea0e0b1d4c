"""Formulas are TeX, whether they were written as TeX or not."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown


def markdown(html: str) -> str:
    return page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/d/p.html").markdown.strip()


SPHINX = (
    "<div class='math notranslate nohighlight' id=equation-a>\n<span class=eqno>(1)"
    "<a class=headerlink href='#equation-a'>#</a></span>\\[a_1 = b\\]</div>"
)
MATRIX_ROW = "<mtr><mtd><mi>a</mi></mtd><mtd><mn>0</mn></mtd></mtr>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (SPHINX, "$$a_1 = b$$\n\n(1)"),
        ("<div class=math>\\[a_1\\] <span class=eqno>(1)</span></div>", "$$a_1$$\n\n(1)"),
        ("<div class=math><span class=eqno></span>\\[a_1\\]</div>", "$$a_1$$"),
        (
            "<div class='amsmath math'><span class=eqno>(2)</span>\\begin{align*}a_1 &= b\\end{align*}</div>",
            "$$\\begin{align*}a_1 &= b\\end{align*}$$\n\n(2)",
        ),
        ("<p>See <span class=math>\\(a_1\\)<b>(3)</b></span>.</p>", "See $a_1$ (3)."),
        ("<div class=math>\\[a_<b>1</b>\\]</div>", "$$a_1$$"),
        ("<div class=math><b>a</b> \\[b\\] <b>c</b></div>", "**a** \\\\\\[b\\\\\\] **c**"),
    ],
)
def test_the_number_of_a_formula_is_no_part_of_it(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        (
            "<mfrac><mi>a</mi><mi>b</mi></mfrac><msup><mi>x</mi><mn>2</mn></msup>",
            "\\frac{a}{b}x^2",
        ),
        ("<mfrac linethickness=0><mi>n</mi><mi>k</mi></mfrac>", "\\genfrac{}{}{0pt}{}{n}{k}"),
        ("<msub><mi>x</mi><mrow><mi>i</mi><mo>+</mo><mn>1</mn></mrow></msub>", "x_{i+1}"),
        ("<msubsup><mi>x</mi><mn>1</mn><mn>22</mn></msubsup>", "x_1^{22}"),
        (
            "<msup><mrow><mo>(</mo><mi>a</mi><mo>&minus;</mo><mi>b</mi><mo>)</mo></mrow><mn>2</mn></msup>",
            "{(a-b)}^2",
        ),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt><mroot><mi>x</mi><mn>3</mn></mroot>",
         "\\sqrt{x+1}\\sqrt[3]{x}"),
        (
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>",
            "\\sum_{i=1}^n i",
        ),
        ("<munder><mi>lim</mi><mi>n</mi></munder><mi>a</mi>", "\\lim_n a"),
        ("<munder><mi>x</mi><mi>n</mi></munder><mover><mi>x</mi><mo>!</mo></mover>",
         "\\underset{n}{x}\\overset{!}{x}"),
        ("<mover><mi>x</mi><mo>¯</mo></mover><mover><mi>y</mi><mo>^</mo></mover>", "\\overline{x}\\hat{y}"),
        ("<munderover><mi>x</mi><mi>a</mi><mi>b</mi></munderover>", "\\overset{b}{\\underset{a}{x}}"),
        ("<mi>sin</mi><mo>&ApplyFunction;</mo><mi>x</mi><mi>foo</mi>", "\\sin x\\mathrm{foo}"),
        ("<mi mathvariant=double-struck>R</mi><mi mathvariant=normal>d</mi>", "\\mathbb{R}\\mathrm{d}"),
        ("<mi>x</mi><mtext> if y_1 </mtext><mspace width=1em /><mn>2</mn>", "x\\text{ if y\\_1 }\\,2"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a, b)"),
        ("<mfenced open='{' close='' separators='|'><mi>a</mi><mi>b</mi></mfenced>", "\\{a| b"),
        (
            f"<mtable>{MATRIX_ROW}{MATRIX_ROW.replace('a', 'b')}</mtable>",
            "\\begin{matrix}a & 0 \\\\ b & 0\\end{matrix}",
        ),
        ("<semantics><mrow><mi>a</mi></mrow><annotation-xml><mi>b</mi></annotation-xml></semantics>", "a"),
        ("<mstyle><mi>a</mi><mo>%</mo><mo>&amp;</mo><mo>\\</mo><mi>b</mi></mstyle>",
         "a\\%\\&\\backslash b"),
    ],
)  # fmt: skip
def test_mathml_is_written_as_tex(mathml: str, tex: str) -> None:
    assert markdown(f"<p>a <math>{mathml}</math> b</p>") == f"a ${tex}$ b"
    assert markdown(f"<math display=block>{mathml}</math>") == f"$${tex}$$"


@pytest.mark.parametrize(
    ("mathml", "text"),
    [
        ("<mmultiscripts><mi>x</mi><mn>2</mn></mmultiscripts>", "x2"),
        ("<mfrac><mi>a</mi></mfrac>", "a"),
        ("<msup><mi>a</mi><mi>b</mi><mi>c</mi></msup>", "abc"),
        ("<mrow>a<mi>b</mi></mrow>", "ab"),
        ("<mtable><mlabeledtr><mtd><mi>a</mi></mtd></mlabeledtr></mtable>", "a"),
        ("<mrow>" * 100 + "<mi>a</mi>", "a"),
        ("<mspace width=1em /><mtext> </mtext>", ""),
    ],
)
def test_mathml_of_other_kinds_stays_text(mathml: str, text: str) -> None:
    assert markdown(f"<math>{mathml}</math>") == text


def test_the_tex_beside_mathml_is_preferred() -> None:
    annotation = "<annotation encoding=application/x-tex>x^{2}</annotation>"
    assert markdown(f"<math><semantics><mi>y</mi>{annotation}</semantics></math>") == "$x^{2}$"


PAYLOADS = ["[x](javascript:a)", "<img src=x>", "$<b>", "\\", "`$`", "a$ [x](javascript:a) $b", "%", "\\$"]
MATHML = ["<mi>{}</mi>", "<mo>{}</mo>", "<mtext>{}</mtext>", "<mfenced open='{}'><mi>x</mi></mfenced>"]


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("place", MATHML)
def test_what_mathml_says_never_becomes_markup(payload: str, place: str) -> None:
    said = place.format(payload.replace("<", "&lt;"))
    html = MarkdownIt("commonmark").render(markdown(f"<p>a <math>{said}</math> b</p>"))
    assert [
        element.tag for element in parse_html(html.encode(), "utf-8").iter_elements(("a", "img", "b"))
    ] == []


TAGS = """
    mi mn mo mtext mrow mfrac msup msub msubsup msqrt mroot munder mover munderover mfenced mtable mtr mtd
    semantics mspace mphantom none
"""


def element(tag: str, parts: list[str]) -> str:
    return f"<{tag}>{''.join(parts)}</{tag}>"


TREES = st.recursive(
    st.text(st.sampled_from("ab1+{}\\$&%_^~` "), max_size=3).map(lambda text: text.replace("&", "&amp;")),
    lambda inner: st.builds(element, st.sampled_from(TAGS.split()), st.lists(inner, max_size=3)),
    max_leaves=12,
)


@given(TREES)
def test_a_formula_ends_where_it_ends(mathml: str) -> None:
    written = markdown(f"<p>x<math><mi>a</mi>{mathml}</math>z</p>")
    assert written.startswith("x")
    assert written.endswith("z")
    if written.startswith("x$"):
        assert written[-2] == "$"
        unescaped = re.sub(r"\\[^A-Za-z]", "", written[2:-2])
        assert "$" not in unescaped
        assert not unescaped.endswith("\\")
        assert unescaped.count("{") == unescaped.count("}")


def test_much_mathml_is_read_once() -> None:
    started = time.process_time()
    assert markdown(f"<math>{'<mrow>' * 30}{'<mi>a</mi>' * 20_000}</math>").startswith("$a")
    assert time.process_time() - started < 2
