"""Every target by name. A target is a function of bytes that raises when a promise is broken."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final

Check = Callable[[bytes], None]

NAMES: Final = (
    "url_identity",
    "robots_file",
    "sitemap_file",
    "html_page",
    "html_tree",
    "http_answer",
    "front_matter",
    "page_paths",
    "document",
    "url_list",
    "web_archive",
    "search_query",
    "cron_expression",
    "shown_page",
)
CORPUS: Final = Path(__file__).parent / "corpus"


def load(name: str) -> Check:
    """Imports the target, and with it what it tests: not before, so that a fuzzer can instrument it."""
    check: Check = import_module(f"fuzz.{name}").check
    return check


def seeds(name: str) -> list[Path]:
    """Small inputs to start from; those that once broke a promise stay among them."""
    return sorted(path for path in (CORPUS / name).iterdir() if path.is_file())
