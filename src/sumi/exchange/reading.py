"""Everything in one text: ``llms.txt``, ``llms-full.txt`` and one Markdown file, or parts of it of a size."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

from sumi.corpus.sections import sections
from sumi.corpus.tokens import estimate
from sumi.exchange.listing import Listed
from sumi.exchange.material import Material
from sumi.exchange.result import new_file, new_folder
from sumi.files.plain_text import iso_utc, markdown_text, markdown_url, one_line
from sumi.urls import split

CONTENTS: Final = "contents.md"


class _Out(Protocol):
    def write(self, data: bytes, /) -> object: ...


# ── llms.txt: titles and addresses ─────────────────────────────────────────────────────────────────────────


def write_llms(material: Material, target: Path) -> int:
    count = material.listing.count()
    with new_file(target) as file:
        _put(
            file,
            f"# {markdown_text(material.title())}\n\n> {count:,} pages, as of {iso_utc(material.moment)}\n",
        )
        group = ""
        for listed in _grouped(material):
            material.tick()
            name = _folder(listed.page.url) or "Pages"
            if name != group:
                _put(file, f"\n## {markdown_text(name)}\n\n")
                group = name
            about = one_line(listed.page.description, 300)
            _put(file, f"- [{_title(listed)}]({_link(listed.page.url)}){f': {about}' if about else ''}\n")
    return count


def _grouped(material: Material) -> Iterator[Listed]:
    """Pages at the top first; those of a folder follow each other."""
    yield from (listed for listed in material.listing.by_url() if not _folder(listed.page.url))
    yield from (listed for listed in material.listing.by_url() if _folder(listed.page.url))


def _folder(url: str) -> str:
    parts = split(url)
    first, slash, _ = parts.path.lstrip("/").partition("/")
    return f"{parts.host}/{first}" if slash else ""


# ── llms-full.txt and one Markdown file: all texts ─────────────────────────────────────────────────────────


def write_llms_full(material: Material, target: Path, max_tokens: int) -> int:
    return _write(material, target, max_tokens, "txt", _named)


def write_markdown(material: Material, target: Path, max_tokens: int) -> int:
    return _write(material, target, max_tokens, "md", _ruled)


class _Compose(Protocol):
    def __call__(self, listed: Listed, text: str) -> str: ...


def _named(listed: Listed, text: str) -> str:
    """A heading with the address below, as crawlers of such files look for it."""
    title = one_line(listed.page.title, 200) or listed.page.url
    body = _without_title(text, listed.page.title)
    return f"# {title}\n\nSource: {listed.page.url}\n\n{body}\n\n"


def _ruled(listed: Listed, text: str) -> str:
    anchor = f'<a id="page-{listed.number}"></a>'
    return f"---\n\n{anchor}\n\n{markdown_url(listed.page.url)}\n\n{text.strip()}\n\n"


def _without_title(text: str, title: str) -> str:
    first, _, rest = text.strip().partition("\n")
    same = first.startswith("# ") and first[2:].strip() == title.strip()
    return (rest if same else text).strip()


def _write(material: Material, target: Path, max_tokens: int, suffix: str, compose: _Compose) -> int:
    if max_tokens:
        return _write_parts(material, target, max_tokens, suffix, compose)
    with new_file(target) as file:
        if suffix == "md":
            _write_contents(file, material)
        count = 0
        for listed, text in material.texts(material.listing.pages()):
            _put(file, compose(listed, text))
            count += 1
    return count


def _write_contents(file: _Out, material: Material) -> None:
    _put(file, "# Contents\n\n")
    for listed in material.listing.pages():
        _put(file, f"- [{_title(listed)}](#page-{listed.number})\n")
    _put(file, "\n")


def _write_parts(material: Material, target: Path, max_tokens: int, suffix: str, compose: _Compose) -> int:
    """``part-0001.md`` and so on, none beyond ``max_tokens``. Only a page that is longer is cut, between its
    sections; ``contents.md`` says where each page is."""
    count = part = used = 0
    with new_folder(target) as tree, tree.stream(CONTENTS) as contents:
        _put(contents, "# Contents\n\n")
        pieces: list[str] = []
        for listed, text in material.texts(material.listing.pages()):
            count += 1
            is_first = True
            for piece in _fitting(compose(listed, text), max_tokens):
                tokens = estimate(piece)
                if not pieces or used + tokens > max_tokens:
                    if pieces:
                        tree.write(_part(part, suffix), _bytes("".join(pieces)))
                    part, used, pieces = part + 1, 0, []
                pieces.append(piece)
                used += tokens
                if is_first:
                    _put(contents, f"- [{_title(listed)}]({_part(part, suffix)})\n")
                    is_first = False
        if pieces:
            tree.write(_part(part, suffix), _bytes("".join(pieces)))
    return count


def _part(number: int, suffix: str) -> str:
    return f"part-{number:04}.{suffix}"


def _fitting(text: str, max_tokens: int) -> Iterator[str]:
    if estimate(text) <= max_tokens:
        yield text
    else:
        yield from (section.text for section in sections(text))


def _title(listed: Listed) -> str:
    return markdown_text(listed.page.title or listed.page.url)


def _link(url: str) -> str:
    return markdown_url(url) if set(url) & set(" ()<>") else url


def _put(file: _Out, text: str) -> None:
    file.write(_bytes(text))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
