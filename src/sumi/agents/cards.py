"""The tools as clients see them. The whole list costs an agent under 1,500 tokens in every conversation, so
each word here is paid for."""

from typing import Any, Final, NamedTuple

_TEXT: Final = {"type": "string"}


def _number(default: int, low: int, high: int) -> dict[str, Any]:
    return {"type": "integer", "default": default, "minimum": low, "maximum": high}


class Card(NamedTuple):
    name: str
    title: str
    description: str
    properties: dict[str, dict[str, Any]]
    required: tuple[str, ...]
    budget: int  # tokens of an answer; an argument ``max_tokens`` decides instead where there is one
    reads_only: bool = True

    @property
    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = list(self.required)
        return schema


MOST_TOKENS: Final = 10_000
_MAX_TOKENS: Final = _number(2000, 200, MOST_TOKENS)
READING: Final = (
    Card(
        "search_docs",
        "Search captured pages",
        "Best pages and sections for a question in everyday words, with snippets. Then read_page with the "
        "URL#anchor.",
        {
            "query": _TEXT,
            "site": {"type": "string", "description": "host"},
            "limit": _number(8, 1, 20),
            "kind": {"enum": ["any", "code"]},
        },
        ("query",),
        1200,
    ),
    Card(
        "read_page",
        "Read a captured page",
        "Markdown of a page or section; says how to go on where it was cut.",
        {
            "url": _TEXT,
            "section": {"type": "string", "description": "anchor or heading"},
            "max_tokens": _MAX_TOKENS,
            "offset": {"type": "integer", "default": 0, "minimum": 0},
        },
        ("url",),
        2000,
    ),
    Card(
        "page_outline",
        "Headings of a page",
        "Headings of a page with anchors and tokens. Then read_page with a section.",
        {"url": _TEXT, "depth": _number(3, 1, 6)},
        ("url",),
        800,
    ),
    Card(
        "list_sites",
        "Captured sites",
        "Sites that were captured: pages, tokens, last update. Then list_pages or search_docs.",
        {"filter": _TEXT},
        (),
        600,
    ),
    Card(
        "list_pages",
        "Pages of a site",
        "Pages of a site below a path; folders with counts where there are many.",
        {
            "site": _TEXT,
            "under": {"type": "string", "default": "/"},
            "limit": _number(100, 1, 1000),
            "offset": {"type": "integer", "default": 0, "minimum": 0},
        },
        ("site",),
        1500,
    ),
    Card(
        "page_changes",
        "What changed",
        "Pages of a site, or versions of a page, that were added, changed or removed; with diff, how.",
        {
            "site": _TEXT,
            "url": _TEXT,
            "since": {"type": "string", "default": "7d", "description": "age or date"},
            "diff": {"type": "boolean", "default": False},
            "max_tokens": _MAX_TOKENS,
        },
        (),
        2000,
    ),
    Card(
        "explain_url",
        "Why a URL is or is not there",
        "Outcome of a URL: why it was captured, skipped or failed, and how it was found.",
        {"url": _TEXT},
        ("url",),
        400,
    ),
)
CAPTURING: Final = Card(
    "capture_site",
    "Capture a site",
    "Starts or continues capturing a site, politely, and returns its counts; call again for progress.",
    {"url": _TEXT, "max_pages": _number(50, 1, 500), "wait_seconds": _number(0, 0, 60)},
    ("url",),
    200,
    reads_only=False,
)


def cards(*, capturing: bool) -> tuple[Card, ...]:
    return (*READING, CAPTURING) if capturing else READING
