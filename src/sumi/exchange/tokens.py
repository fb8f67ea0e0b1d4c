"""How many tokens a text takes, estimated without a model's own table."""

import re
from typing import Final

_DENSE: Final = re.compile("[\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")
_BYTES_PER_TOKEN: Final = 4
_BYTES_OF_DENSE: Final = 3  # of a character of Chinese, Japanese or Korean, which takes one and a half tokens


def estimated_tokens(text: str) -> int:
    """Bytes of UTF-8 divided by 4, and by 2 where the script is dense; rounded up."""
    count = len(text.encode("utf-8", "replace"))
    dense = 0 if text.isascii() else _BYTES_OF_DENSE * len(_DENSE.findall(text))
    return -(-(count + dense) // _BYTES_PER_TOKEN)
