"""How answers are written: harmless characters, foreign text between marks, no more tokens than allowed."""

import re
import secrets
from collections.abc import Callable, Sequence
from typing import Final

from sumi.corpus.reading import fitted
from sumi.corpus.tokens import estimate

# Control characters, those that turn the direction of writing, and the invisible "tags", in which
# instructions can be hidden from people.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
LONGEST_URL: Final = 400  # characters of a URL that are shown


def clean(text: str) -> str:
    return _HIDDEN.sub("", text)


def one_line(text: str, most: int = 160) -> str:
    line = " ".join(clean(text[: 4 * most]).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def quoted(body: str, about: str = "") -> str:
    """Between marks that no page can know, so no page can end its own quotation."""
    key = secrets.token_hex(4)
    while key in body or key in about:
        key = secrets.token_hex(4)
    return f"{' '.join(filter(None, ('<captured', key, _attribute(about))))}>\n{body}\n</captured {key}>"


def _attribute(text: str) -> str:
    return one_line(text, LONGEST_URL).replace("<", "").replace(">", "")


def listed(lines: Sequence[str], budget: int, more: Callable[[int], str]) -> str:
    """As many lines as fit, and ``more(n)`` where n are left out. Lines begin with words of ours, so none
    opens a block of code and costs more than it seems."""
    whole = "\n".join(lines)
    if estimate(whole) <= budget:
        return whole
    low, high = 0, len(lines) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if estimate("\n".join([*lines[:middle], more(len(lines) - middle)])) <= budget:
            low = middle
        else:
            high = middle - 1
    return "\n".join([*lines[:low], more(len(lines) - low)])


def within(text: str, budget: int) -> str:
    """Cuts an answer that is still too long."""
    return text if estimate(text) <= budget else fitted(text, budget)
