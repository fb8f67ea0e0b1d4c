"""The examples of the Python guide run, from the first to the last, each as its reader would run it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.map.map_site import Page, running_web
from tests.e2e.pipeline.run_site import PlainSite, configured_crawl, plain_site

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "python.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
START = '"https://docs.example.org/"'
# What an example leaves to the defaults, which are polite and slow.
QUICK: dict[str, Any] = {"rate_limit": 0, "min_free": 0, "processes": 0}
WEB = {"good.test/": Page(("/a",)), "good.test/a": Page()}


@pytest.fixture
def site() -> Iterator[PlainSite]:
    with plain_site(pages=4) as running:
        yield running


def test_every_example_runs(
    site: PlainSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    configured_crawl(tmp_path, site)
    assert len(EXAMPLES) >= 8
    with running_web(dict(WEB), tmp_path) as web:
        web.config(tmp_path, {"good.test": "good.test/"})
        for example in EXAMPLES:
            code = example.replace(START, f'"{site.url}/", **QUICK').replace(
                "https://docs.example.org", site.url
            )
            exec(compile(code, str(GUIDE), "exec"), {"QUICK": QUICK, "__name__": "__main__"})
    said = capsys.readouterr().out
    assert "complete {'absent': 5, 'captured': 5}" in said
    assert "completed 5" in said
    assert "5 rows" in said
    assert "5 pages exported" in said
    assert "5 pages indexed" in said
    assert "1 added /p1" in said
    assert "# Title\n\nText." in said
    assert (tmp_path / "docs.zip").is_file()
    assert (tmp_path / "web.graphml").is_file()
