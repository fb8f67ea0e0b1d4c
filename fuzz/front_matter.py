"""Front matter: whatever a page calls itself, a YAML reader gets the same strings back, and no key more."""

import yaml

from fuzz.inputs import as_lines
from sumi.files.plain_text import front_matter, one_line
from sumi.jobs.mirror.markdown_page import compose_page
from sumi.model import Response, Timing
from sumi.parse.page.digest import PageDigest

_URL = "https://example.com/"
_TIMING = Timing(0.0, 0.0, 0.0)


def check(data: bytes) -> None:
    """Title, description, language and ETag, a line each; the Markdown behind them."""
    title, description, language, etag, markdown, *_ = [*as_lines(data, 5), *[""] * 5]
    fields = {"title": title, "description": description, "language": language}
    assert _read(front_matter(**fields)) == {name: one_line(value) for name, value in fields.items()}
    response = Response(_URL, 200, (("etag", etag),), b"", _TIMING)
    digest = PageDigest([], title, language, description, markdown=markdown)
    file, facts = compose_page(_URL, response, digest)
    head, _, body = file.decode().partition("\n---\n\n")
    expected = {"title": facts.title, "description": facts.description, "language": facts.language}
    shown = _read(head + "\n---\n")
    assert {name: shown.get(name) for name in expected} == expected
    assert shown["url"] == _URL
    assert body.endswith("\n")
    assert facts.size == len(file)


def _read(block: str) -> dict[str, str]:
    assert block.startswith("---\n")
    assert block.endswith("\n---\n")
    fields = yaml.safe_load(block.removeprefix("---\n").removesuffix("---\n"))
    assert isinstance(fields, dict)
    return fields
