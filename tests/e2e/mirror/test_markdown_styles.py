"""`sumi mirror` writes exactly this Markdown for pages of the common generators."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import sumi_command, sumi_environment
from tests.folder_site import folder_site

PAGES = Path(__file__).parents[2] / "pages"
NAMES = sorted(page.stem for page in PAGES.glob("*.html"))
SITE = "https://site.example/"  # what the expected Markdown calls the site


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The Markdown of each page by name, from one run over all of them."""
    workplace = tmp_path_factory.mktemp("styles")
    with folder_site(workplace / "site") as site:
        site.write("index.html", "".join(f"<p><a href={name}.html>{name}</a></p>" for name in NAMES))
        for name in NAMES:
            shutil.copy(PAGES / f"{name}.html", site.folder)
        # Not deeper: the links of the pages are dead.
        command = sumi_command(("mirror", site.url, "--rate-limit", "0", "--max-depth", "1"))
        run = subprocess.run(
            command, cwd=workplace, env=sumi_environment(None), capture_output=True, text=True, timeout=300
        )
        assert run.returncode == 0, run.stderr
        home = workplace / "output" / site.home
        texts = {name: (home / f"{name}" / "index.md").read_text() for name in NAMES}
        yield {name: text.replace(site.url, SITE) for name, text in texts.items()}


@pytest.mark.parametrize("name", NAMES)
def test_the_markdown_is_exactly_this(mirrored: dict[str, str], name: str) -> None:
    _, front_matter, markdown = mirrored[name].split("---\n", 2)
    assert f"url: {SITE}{name}.html\n" in front_matter.replace('"', "")
    assert markdown.strip("\n") == (PAGES / f"{name}.md").read_text().strip("\n")
