"""Words, of which scripts that are written without blanks have one for each letter."""

import re
from typing import Final

_LETTERS: Final = "\u0e00-\u0e7f\u1000-\u109f\u3040-\u30ff\u3400-\u9fff"  # Thai, Burmese, kana and Han
_LETTER: Final = re.compile(f"[{_LETTERS}]")
_WORD: Final = re.compile(r"\w+")
_WORD_OR_LETTER: Final = re.compile(rf"[{_LETTERS}]|[^\W{_LETTERS}]+")


def words_in(text: str) -> int:
    """Between blanks."""
    if text.isascii() or _LETTER.search(text) is None:
        return len(text.split())
    return len(_LETTER.sub(" x ", text).split())


def list_words(text: str, start: int, end: int) -> list[str]:
    """Without what is no letter and no number."""
    is_spaced = text.isascii() or _LETTER.search(text, start, end) is None
    return (_WORD if is_spaced else _WORD_OR_LETTER).findall(text, start, end)
