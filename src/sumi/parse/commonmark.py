"""The fence around the Markdown parser: no other module imports it, so that it can be replaced here."""

from typing import Final

from pyromark import Options, html

_GITHUB: Final = Options.ENABLE_TABLES | Options.ENABLE_STRIKETHROUGH | Options.ENABLE_TASKLISTS


def render(markdown: str) -> str:
    """As GitHub would show it. Only to be counted, never to be shown: it is as hostile as its page."""
    return html(markdown, options=_GITHUB)
