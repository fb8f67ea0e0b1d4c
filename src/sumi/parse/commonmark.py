"""The fence around the Markdown parser: no other module imports it, so that it can be replaced here."""

from typing import Final

from comrak import ExtensionOptions, RenderOptions, render_markdown


def _github() -> ExtensionOptions:
    options = ExtensionOptions()
    options.table = True
    options.strikethrough = True
    options.tasklist = True
    return options


def _as_written() -> RenderOptions:
    """With the tags that stand in the Markdown: left out, what is inside them would count as lost."""
    options = RenderOptions()
    options.unsafe_ = True
    return options


_GITHUB: Final = _github()
_AS_WRITTEN: Final = _as_written()


def render(markdown: str) -> str:
    """As GitHub would show it. Only to be counted, never to be shown: it is as hostile as its page."""
    return render_markdown(markdown, _GITHUB, None, _AS_WRITTEN)
