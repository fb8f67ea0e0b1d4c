"""With `[render]`, links that only a script writes are on the map, rendered by a real Chromium."""

from pathlib import Path

from tests.browsers import needs_browser
from tests.commands import RunSumi
from tests.e2e.map.map_site import Page, running_web
from tests.jobs.map.map_world import recorded_links, states

pytestmark = needs_browser

SCRIPTED = """<html><head><title>App</title></head><body><div id="root"></div><script>
const link = document.createElement("a");
link.href = "/behind"; link.textContent = "on"; document.getElementById("root").append(link);
</script></body></html>"""


def test_links_written_by_a_script_are_followed(tmp_path: Path, run_sumi: RunSumi) -> None:
    pages = {"good.test/": Page(body=SCRIPTED), "good.test/behind": Page()}
    with running_web(pages, tmp_path, tls=False) as web:
        quality = {"good.test": "good.test/"}
        config = str(web.config(tmp_path, quality))
        assert run_sumi("map", config).returncode == 0
        assert set(states(tmp_path / "map.db")) == {web.url("good.test/")}
        web.config(tmp_path, quality, '[render]\nmode = "auto"\n')
        done = run_sumi("map", config, "--fresh")
        assert done.returncode == 0, done.stderr
        assert states(tmp_path / "map.db") == {
            web.url("good.test/"): "Processed",
            web.url("good.test/behind"): "Processed",
        }
        assert recorded_links(tmp_path / "map.db") == [(web.url("good.test/"), web.url("good.test/behind"))]
