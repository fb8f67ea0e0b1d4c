"""Formulas as TeX between dollars, and what stands above or below the line."""

import re
from collections.abc import Mapping
from typing import Final

from sumi.parse.html import Element, RenderTag, new_element

_INLINE: Final = "sumi-math"
_DISPLAY: Final = "sumi-display-math"

_TEX_ENCODINGS: Final = frozenset({"application/x-tex", "application/x-latex", "latex", "tex"})
_DELIMITED: Final = re.compile(
    r"\s*(?:\\\((?P<inline>.*)\\\)|\\\[(?P<display>.*)\\\]|\$\$(?P<dollars>.*)\$\$)\s*", re.DOTALL
)
_COMMENT: Final = re.compile(r"(?<!\\)%[^\n]*")
# TeX is written out unescaped, so whatever Markdown or HTML could take for a tag, a link or the formula's end
# is parted by a blank, which means nothing in TeX; what cannot be parted so becomes a code span.
_MARKUP: Final = re.compile(r"<(?=[^\s])|\](?=[(\[:])")
_UNSAFE: Final = re.compile(r"`|(?<!\\)\$")

_RAISED: Final = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_LOWERED: Final = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


def set_math_script(script: Element) -> None:
    """MathJax 2: ``<script type="math/tex; mode=display">``."""
    _set(script, script.text, display="mode=display" in (script.attr("type") or "").replace(" ", ""))


def set_mathml(formula: Element) -> None:
    """MathML with its TeX beside it, as KaTeX, MediaWiki and pandoc write it. Without it, its text stays."""
    tex = _annotated_tex(formula) or formula.attr("alttext")
    if tex:
        _set(formula, tex, display=formula.attr("display") == "block" or _is_displayed(formula))


def set_delimited(element: Element) -> None:
    r"""``<span class="math">\(…\)</span>``, for MathJax to find."""
    match = _DELIMITED.fullmatch(element.text)
    if match is None:
        return
    tex = match["inline"]
    if tex is not None:
        _set(element, tex, display=False)
    else:
        _set(element, match["display"] or match["dollars"] or "", display=True)


def _annotated_tex(formula: Element) -> str | None:
    for annotation in formula.iter_elements(("annotation",)):
        if (annotation.attr("encoding") or "").lower() in _TEX_ENCODINGS:
            return annotation.text
    return None


def _is_displayed(formula: Element) -> bool:
    return formula.closest(".katex-display, .mwe-math-element-block") is not None


def _set(element: Element, tex: str, *, display: bool) -> None:
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
