"""A crawl archives an application's pages as a browser shows them, where its configuration says so."""

from pathlib import Path

import msgspec
import yaml
import zstandard

from tests.browsers import needs_browser
from tests.commands import RunSumi
from tests.site import MakeSite, SitemapPreset
from tests.site.apps import ARTICLES

pytestmark = needs_browser


def test_pages_are_rendered_followed_and_archived(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, sitemap=SitemapPreset.NONE)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "seeds.txt").write_text(f"{site.url}/app/routed/home\n")
    settings = {
        "user_agent": "testbot/1.0 (+https://example.org/bot)",
        "profile": "generic",
        "scope": {"allow_patterns": ["/app/routed/"]},
        "limits": {"req_per_sec": 1000},
        "store": {"compress": True},
        "render": {"mode": "auto", "wait_for": ["main h1"]},
    }
    (tmp_path / "crawl.yaml").write_text(yaml.safe_dump(settings))
    done = run_sumi("run", "--config", "crawl.yaml", "--unified", "-q")
    assert done.returncode == 0, done.stderr

    lines = (workspace / "metadata" / "crawl_metadata.jsonl").read_bytes().splitlines()
    told = {line["url"].rpartition("/")[2]: line for line in map(msgspec.json.decode, lines)}
    assert told.keys() == ARTICLES.keys()  # links exist only once scripts have run
    for name, line in told.items():
        assert line["metadata"]["rendered"].startswith("auto: ")
        body = zstandard.decompress((workspace / line["stored_path"]).read_bytes())
        assert ARTICLES[name].strip().encode() in body
