"""A folder of Markdown drawn as a tree."""

from pathlib import Path
from typing import TypeAlias

from sumi.console.terminal import printable

Branches: TypeAlias = dict[str, "Branches"]  # a page is a branch without branches


def markdown_files(folder: Path) -> list[Path]:
    """Pages only: what starts with an underscore is about the mirror, not of the site."""
    found = (path.relative_to(folder) for path in folder.rglob("*.md") if path.is_file())
    return sorted(path for path in found if not any(part.startswith("_") for part in path.parts))


def tree_lines(folder: Path) -> list[str]:
    """Every folder with the number of pages beneath it; a folder that holds just one page is one line."""
    root: Branches = {}
    pages = markdown_files(folder)
    for path in pages:
        branches = root
        for part in path.parts:
            branches = branches.setdefault(part, {})
    return [f"{printable(folder.name)} ({_pages(len(pages))})", *_draw(root, "")]


def _draw(branches: Branches, indent: str) -> list[str]:
    lines: list[str] = []
    last = next(reversed(branches), None)
    for name, below in branches.items():
        label, inner = _collapse(name, below)
        note = f" ({_pages(_leaves(inner))})" if inner else ""
        lines.append(f"{indent}{'└── ' if name == last else '├── '}{printable(label)}{note}")
        lines += _draw(inner, indent + ("    " if name == last else "│   "))
    return lines


def _collapse(name: str, below: Branches) -> tuple[str, Branches]:
    while len(below) == 1:
        child, below = next(iter(below.items()))
        name = f"{name}/{child}"
    return name, below


def _leaves(branches: Branches) -> int:
    return sum(_leaves(below) for below in branches.values()) if branches else 1


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"
