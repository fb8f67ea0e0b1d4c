"""Captured pages in the window: no tag is left that could ask somebody where scripts and frames may not."""

from fuzz.inputs import as_choice, as_text
from sumi.parse.html import parse_text, select_each
from sumi.serve.page_view import disarmed, rendered


def check(data: bytes) -> None:
    """The first byte chooses: a page as it came, or Markdown."""
    choice, rest = as_choice(data)
    text = as_text(rest).encode("utf-8", "replace").decode()
    page = disarmed(text) if choice % 2 else rendered(text).partition("</style>")[2]
    assert not list(select_each(parse_text(page), ("link", "meta", "base")))
