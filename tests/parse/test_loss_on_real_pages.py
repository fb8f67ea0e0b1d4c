"""Of real manuals, where they are installed: whatever third the conversion loses, the fidelity falls."""

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from benchmarks.fidelity_corpus import SOURCES
from sumi.model import Kind
from sumi.parse.html import Element, RenderTag, to_markdown
from sumi.parse.markdown import convert
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset

BLOCKS = ("p", "li", "pre", "tr", "h2", "h3", "dt", "dd")
EACH = 4
LARGEST = 200_000
SHORTEST = 400  # of the Markdown; a page that only leads elsewhere has nothing to lose


def pages() -> list[Path]:
    found: list[Path] = []
    for source in SOURCES:
        files = [path for path in sorted(Path(source.folder).glob(source.pattern)) if _is_usual(path)]
        found += Random(source.name).sample(files, min(EACH, len(files)))
    return found


def _is_usual(path: Path) -> bool:
    return path.is_file() and path.stat().st_size < LARGEST


def digested(page: bytes) -> PageDigest:
    found = digest(
        DigestRequest("https://e.org/a/b", page, "text/html", Kind.PAGE, Preset.MIRROR, markdown=True)
    )
    assert isinstance(found, PageDigest)
    return found


def test_a_third_lost_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = 0
    for path in pages():
        page = path.read_bytes()
        whole = digested(page)
        if whole.fidelity is None or len(whole.markdown or "") < SHORTEST:
            continue
        random = Random(path.name)

        def lossy(root: Element, tags: Mapping[str, RenderTag] | None = None, random: Random = random) -> str:
            blocks = [each for each in root.iter_elements(BLOCKS) if each.text.strip()]
            for block in random.sample(blocks, len(blocks) // 3):
                block.decompose()
            return to_markdown(root, tags)

        with monkeypatch.context() as patched:
            patched.setattr(convert, "to_markdown", lossy)
            fidelity = digested(page).fidelity
        assert fidelity is not None
        assert fidelity < whole.fidelity, path.name
        judged += 1
    if not judged:
        pytest.skip("no manuals of the benchmark are installed")
