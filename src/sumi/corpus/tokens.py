"""How many tokens a text will cost an agent, estimated from above for common tokenizers. Pure."""

import re
from typing import Final

_CJK: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+")
_CODE: Final = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
# Twelfths of a token that a byte of UTF-8 costs: a quarter in prose, a third in code, a half in CJK.
_PROSE, _IN_CODE, _IN_CJK = 3, 4, 6


def estimate(text: str) -> int:
    """Rounded up."""
    return -(-_twelfths(text) // 12)


def code_share(text: str) -> float:
    """How much of it is fenced code, 0 to 1."""
    return sum(len(block[0]) for block in _CODE.finditer(text)) / len(text) if text else 0.0


def _twelfths(text: str) -> int:
    cost = _PROSE * _size(text)
    if "```" in text or "~~~" in text:
        cost += (_IN_CODE - _PROSE) * sum(_size(block[0]) for block in _CODE.finditer(text))
    if not text.isascii():
        cost += (_IN_CJK - _PROSE) * sum(_size(run[0]) for run in _CJK.finditer(text))
    return cost


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
