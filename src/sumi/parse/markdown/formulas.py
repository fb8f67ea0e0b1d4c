"""Formulas as TeX between dollars, and what stands above or below the line."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from sumi.parse.html import Element, RenderTag, Text, collapse, element_children, new_element
from sumi.parse.markdown.chrome import place_of

_INLINE: Final = "sumi-math"
_DISPLAY: Final = "sumi-display-math"

_TEX_ENCODINGS: Final = frozenset({"application/x-tex", "application/x-latex", "latex", "tex"})
_DELIMITED: Final = re.compile(
    r"\s*(?:\\\((?P<inline>.*)\\\)|\\\[(?P<display>.*)\\\]|\$\$(?P<dollars>.*)\$\$"
    r"|(?P<environment>\\begin\{(?P<name>\w+\*?)\}.*\\end\{(?P=name)\}))\s*",
    re.DOTALL,
)
_COMMENT: Final = re.compile(r"(?<!\\)%[^\n]*")
# TeX is written out unescaped, so whatever Markdown or HTML could take for a tag, a link or the formula's end
# is parted by a blank, which means nothing in TeX; what cannot be parted so becomes a code span.
_MARKUP: Final = re.compile(r"<(?=[^\s])|\](?=[(\[:])")
_UNSAFE: Final = re.compile(r"`|(?<!\\)\$")

_RAISED: Final = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_LOWERED: Final = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")

# MathML
_DEEPEST: Final = 40
_IN_TEX: Final = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "{}%#&_$"},
        **dict.fromkeys("\u2061\u2062\u2063\u2064", ""),  # operators that are not seen
        "\\": "\\backslash ",
        "^": "\\wedge ",
        "~": "\\sim ",
        "\N{MINUS SIGN}": "-",
        "\N{N-ARY SUMMATION}": "\\sum",
        "\N{N-ARY PRODUCT}": "\\prod",
        "\N{INTEGRAL}": "\\int",
        "\N{N-ARY UNION}": "\\bigcup",
        "\N{N-ARY INTERSECTION}": "\\bigcap",
    }
)
_LIMITED: Final = "lim liminf limsup max min sup inf det gcd Pr"
_UNLIMITED: Final = """
    sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth log ln lg exp arg deg dim hom ker
"""
_FUNCTIONS: Final = frozenset(f"{_LIMITED} {_UNLIMITED}".split())
_WITH_LIMITS: Final = frozenset(f"\\{name}" for name in f"{_LIMITED} sum prod int bigcup bigcap".split())
_ALPHABETS: Final = {
    "bold": "\\mathbf",
    "double-struck": "\\mathbb",
    "fraktur": "\\mathfrak",
    "normal": "\\mathrm",
    "script": "\\mathcal",
}
_ACCENTS: Final = {
    **dict.fromkeys("¯‾", "\\overline"),
    **dict.fromkeys(("ˆ", "\\wedge"), "\\hat"),
    **dict.fromkeys(("˜", "\\sim"), "\\tilde"),
    **dict.fromkeys("→\u20d7", "\\vec"),
    **dict.fromkeys("˙.", "\\dot"),
    "¨": "\\ddot",
}
_LINES_BELOW: Final = dict.fromkeys(("\\_", "¯", "‾", "\u0332"), "\\underline")
_ONE_SIGN: Final = re.compile(r"[^\W_]|\\[A-Za-z]+")


def set_math_script(script: Element) -> None:
    """MathJax 2: ``<script type="math/tex; mode=display">``."""
    set_tex(script, script.text, display="mode=display" in (script.attr("type") or "").replace(" ", ""))


def set_mathml(formula: Element) -> None:
    """MathML, by the TeX beside it, as KaTeX, MediaWiki and pandoc write it, or else by what it consists of.
    What is not known how to be written leaves it as its text."""
    tex = _annotated_tex(formula) or formula.attr("alttext") or mathml_as_tex(formula)
    if tex:
        set_tex(formula, tex, display=formula.attr("display") == "block" or _is_displayed(formula))


def set_delimited(element: Element) -> None:
    r"""``<span class="math">\(…\)</span>``, for MathJax to find."""
    match = _DELIMITED.fullmatch(element.text)
    if match is None:
        match = _take_label(element)
    if match is None:
        return
    if element.attr("id"):
        element.insert_before(place_of(element))
    tex = match["inline"]
    if tex is not None:
        set_tex(element, tex, display=False)
    else:
        set_tex(element, match["display"] or match["dollars"] or match["environment"] or "", display=True)


def _take_label(element: Element) -> re.Match[str] | None:
    """The number of a formula, as Sphinx writes it into the same element, goes into a line behind it: beside
    it, many would not take the dollars for what ends a formula."""
    labels = list(element_children(element))
    if len(labels) != 1 or element.parent is None:
        return None
    match = _DELIMITED.fullmatch("".join(part.data for part in element.children if isinstance(part, Text)))
    label = collapse(labels[0].text)
    if match is not None and label:
        element.insert_after(new_element("p", label) if element.tag == "div" else Text(f" {label}"))
    return match


def _annotated_tex(formula: Element) -> str | None:
    for annotation in formula.iter_elements(("annotation",)):
        if (annotation.attr("encoding") or "").lower() in _TEX_ENCODINGS:
            return annotation.text
    return None


class _Unwritable(Exception):
    """MathML of a kind that has no place here."""


def mathml_as_tex(formula: Element) -> str:
    """What its elements mean, "" if one of them is not known: half a formula is wrong."""
    try:
        return _row(formula, _DEEPEST).strip() if formula.text.strip() else ""
    except _Unwritable:
        return ""


def _tex(element: Element, levels: int) -> str:
    write = _TOKENS.get(element.tag)
    if write is not None:
        return write(element)
    if levels == 0:
        raise _Unwritable
    if element.tag in _ROWS:
        return _ROWS[element.tag].format(_row(element, levels - 1))
    if element.tag in _SCHEMATA:
        number, lay_out = _SCHEMATA[element.tag]
        parts = _parts(element, levels - 1)
        if len(parts) == number:
            return lay_out(*parts)
    elif element.tag in _SPECIAL:
        return _SPECIAL[element.tag](element, levels - 1)
    raise _Unwritable


def _parts(element: Element, levels: int) -> list[str]:
    if any(isinstance(part, Text) and part.data.strip() for part in element.children):
        raise _Unwritable
    return [_tex(part, levels) for part in element_children(element)]


def _row(element: Element, levels: int) -> str:
    written: list[str] = []
    for part in filter(None, _parts(element, levels)):
        # Or the letter would be of the command's name.
        if part[:1].isalpha() and written and "\\" in written[-1] and written[-1][-1:].isalpha():
            written.append(" ")
        written.append(part)
    return "".join(written)


def _sign(element: Element) -> str:
    return collapse(element.text).translate(_IN_TEX).strip()


def _identifier(element: Element) -> str:
    sign = _sign(element)
    if sign in _FUNCTIONS:
        return f"\\{sign}"
    usual = "normal" if len(sign) > 1 and sign.isalpha() else ""
    alphabet = _ALPHABETS.get(element.attr("mathvariant") or usual)
    return sign if alphabet is None else f"{alphabet}{{{sign}}}"


def _words(element: Element) -> str:
    words = element.text.replace("\xa0", " ").translate(_IN_TEX)
    return f"\\text{{{words}}}" if words.strip() else "\\,"


def _grouped(tex: str) -> str:
    return tex if _ONE_SIGN.fullmatch(tex) else f"{{{tex}}}"


def _with_scripts(base: str, lower: str = "", upper: str = "") -> str:
    below = f"_{_grouped(lower)}" if lower else ""
    above = f"^{_grouped(upper)}" if upper else ""
    return f"{_grouped(base)}{below}{above}"


def _with_under(base: str, under: str) -> str:
    if base in _WITH_LIMITS:
        return _with_scripts(base, under)
    line = _LINES_BELOW.get(under)
    return f"\\underset{{{under}}}{{{base}}}" if line is None else f"{line}{{{base}}}"


def _with_over(base: str, over: str) -> str:
    if base in _WITH_LIMITS:
        return _with_scripts(base, upper=over)
    accent = _ACCENTS.get(over)
    return f"\\overset{{{over}}}{{{base}}}" if accent is None else f"{accent}{{{base}}}"


def _with_both(base: str, under: str, over: str) -> str:
    if base in _WITH_LIMITS:
        return _with_scripts(base, under, over)
    return _with_over(_with_under(base, under), over)


def _fraction(element: Element, levels: int) -> str:
    parts = _parts(element, levels)
    if len(parts) != 2:
        raise _Unwritable
    # Without a line it is a binomial coefficient, or something else than a quotient.
    is_lined = (element.attr("linethickness") or "1").strip()[:1] != "0"
    command = "\\frac" if is_lined else "\\genfrac{}{}{0pt}{}"
    return f"{command}{{{parts[0]}}}{{{parts[1]}}}"


def _fenced(element: Element, levels: int) -> str:
    opening, closing, separators = map(element.attr, ("open", "close", "separators"))
    separator = "," if separators is None else separators.strip()[:1]
    inside = f"{separator.translate(_IN_TEX)} ".join(_parts(element, levels))
    left, right = "(" if opening is None else opening, ")" if closing is None else closing
    return f"{left.translate(_IN_TEX)}{inside}{right.translate(_IN_TEX)}"


def _matrix(table: Element, levels: int) -> str:
    rows = [_matrix_row(row, levels) for row in element_children(table)]
    return "\\begin{matrix}" + " \\\\ ".join(rows) + "\\end{matrix}"


def _matrix_row(row: Element, levels: int) -> str:
    cells = list(element_children(row))
    if row.tag != "mtr" or any(cell.tag != "mtd" for cell in cells):
        raise _Unwritable
    return " & ".join(_row(cell, levels) for cell in cells)


def _annotated(semantics: Element, levels: int) -> str:
    formula = next(element_children(semantics), None)
    return "" if formula is None else _tex(formula, levels)


def _space(_: Element) -> str:
    return "\\,"


_TOKENS: Final[Mapping[str, Callable[[Element], str]]] = {
    "mi": _identifier,
    "mn": _sign,
    "mo": _identifier,
    "ms": _words,
    "mspace": _space,
    "mtext": _words,
}
_ROWS: Final = {
    **dict.fromkeys(("math", "mrow", "mstyle", "mpadded", "merror"), "{}"),
    "msqrt": "\\sqrt{{{}}}",
    "mphantom": "\\phantom{{{}}}",
}
_SCHEMATA: Final[Mapping[str, tuple[int, Callable[..., str]]]] = {
    "msub": (2, _with_scripts),
    "msup": (2, lambda base, upper: _with_scripts(base, upper=upper)),
    "msubsup": (3, _with_scripts),
    "mroot": (2, "\\sqrt[{1}]{{{0}}}".format),
    "munder": (2, _with_under),
    "mover": (2, _with_over),
    "munderover": (3, _with_both),
}
_SPECIAL: Final[Mapping[str, Callable[[Element, int], str]]] = {
    "mfrac": _fraction,
    "mfenced": _fenced,
    "mtable": _matrix,
    "semantics": _annotated,
}


def _is_displayed(formula: Element) -> bool:
    return formula.closest(".katex-display, .mwe-math-element-block") is not None


def set_tex(element: Element, tex: str, *, display: bool) -> None:
    """The formula in the element's place."""
    if element.parent is None:
        return
    tex = " ".join(_COMMENT.sub("", tex).split())
    if not tex:
        element.decompose()
    elif _UNSAFE.search(tex):
        element.replace_with(new_element("code", tex))
    else:
        element.replace_with(_formula(_MARKUP.sub(r"\g<0> ", tex), display=display))


def _formula(tex: str, *, display: bool) -> Element:
    if not display:
        return new_element(_INLINE, tex)
    block = new_element("div")
    block.append(new_element(_DISPLAY, tex))
    return block


def set_script_position(element: Element) -> None:
    """10<sup>6</sup> must not become 106. Note marks are links and stay as they are."""
    text = element.text
    if element.select_one("a") is not None or not text.strip() or "|" in text or "\\" in text:
        if element.parent is not None:
            element.unwrap()
        return
    shifted = text.translate(_RAISED if element.tag == "sup" else _LOWERED)
    if len(text) < 20 and all(before != after for before, after in zip(text, shifted, strict=True)):
        element.set_text(shifted)
        element.tag = "span"


def _write_inline(element: Element, _: str) -> str:
    return f"${element.text}$"


def _write_display(element: Element, _: str) -> str:
    return f"$${element.text}$$"


def _write_raised(_: Element, inside: str) -> str:
    return f"<sup>{inside}</sup>" if _is_one_line(inside) else inside


def _write_lowered(_: Element, inside: str) -> str:
    return f"<sub>{inside}</sub>" if _is_one_line(inside) else inside


def _is_one_line(inside: str) -> bool:
    """A tag in front of a fence, a list or a table would make their text into tags as well."""
    return bool(inside) and len(inside.splitlines()) == 1


_RENDERERS: Final[Mapping[str, RenderTag]] = {
    _INLINE: _write_inline,
    _DISPLAY: _write_display,
    "sup": _write_raised,
    "sub": _write_lowered,
}


RENDERED: Final = tuple(_RENDERERS)


def renderers_for(root: Element) -> Mapping[str, RenderTag] | None:
    """None for the pages, nearly all, that have no use for them: converting with them takes longer."""
    return _RENDERERS if next(root.iter_elements(RENDERED), None) is not None else None
