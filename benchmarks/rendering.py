"""``python -m benchmarks.rendering``: pages a minute that `sumi mirror --render balanced` makes of a
single-page application with 1, 2 and 4 tabs, beside a plain Playwright loop with the same waits."""

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import Cost, run_measured
from benchmarks.serving import free_port, served
from sumi.fetch.browser.rendering import browser_version, find_browser

RESULTS = Path(__file__).parent / "results"
TABS = (1, 2, 4)
PROSE = "Ink is ground on a stone with a little water, and patience comes out of the brush. " * 20
APP = """
const name = location.pathname.slice(1).replace('.html', '');
fetch('/data-' + name + '.txt').then((answer) => answer.text()).then((text) => {
  document.getElementById('root').innerHTML =
    '<main><h1>' + name + '</h1>' + text.split('|').map((part) => '<p>' + part + '</p>').join('') + '</main>';
});
"""


class Row(NamedTuple):
    name: str
    tabs: int
    pages: int
    cost: Cost

    @property
    def per_minute(self) -> float:
        return self.pages / self.cost.wall_seconds * 60


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rendering", description=__doc__)
    parser.add_argument("--pages", type=int, default=60, help="pages of the application (default: 60)")
    options = parser.parse_args()
    browser = find_browser(None)
    with tempfile.TemporaryDirectory() as name:
        site, port = Path(name), free_port()
        origin = f"http://127.0.0.1:{port}"
        write_application(site, options.pages, origin)
        with served(site, port):
            rows = [row for tabs in TABS for row in compete(browser, origin, options.pages, tabs)]
    report(rows, browser)


def write_application(site: Path, pages: int, origin: str) -> None:
    """Shells that a script fills from a second request, listed in a sitemap."""
    site.chmod(0o755)  # nginx reads it as another user
    (site / "robots.txt").write_text(f"User-agent: *\nAllow: /\nSitemap: {origin}/sitemap.xml\n")
    listed = "".join(f"<url><loc>{origin}/p{n}.html</loc></url>" for n in range(pages))
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    (site / "sitemap.xml").write_text(f'<?xml version="1.0"?><urlset xmlns="{space}">{listed}</urlset>')
    shell = f'<!DOCTYPE html><title>App</title><div id="root"></div><script>{APP}</script>'
    for number in range(pages):
        (site / f"p{number}.html").write_text(shell)
        (site / f"data-p{number}.txt").write_text(f"Page {number}. {PROSE}|{PROSE}|{PROSE}")
    (site / "index.html").write_text(
        "<!DOCTYPE html><title>Start</title><p>The pages are in the sitemap.</p>"
    )


def compete(browser: str, origin: str, pages: int, tabs: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder)
        log = output / "log"
        loop = [sys.executable, "-m", "benchmarks.rendering_loop", browser, origin, str(pages), str(tabs)]
        bare = run_measured([*loop, folder], log)
        written = sum(f"Page {n}." in (output / f"{n}.html").read_text() for n in range(pages))
        mirror = [sys.executable, "-m", "sumi", "mirror", f"{origin}/", "--rate-limit", "0", "--quiet"]
        render = ["--render", "balanced", "--render-tabs", str(tabs), "--per-host", str(max(tabs, 2))]
        ours = run_measured([*mirror, *render, "-o", f"{folder}/out"], log)
        mirrored = sum("Page " in file.read_text() for file in output.glob("out/*/p*/index.md"))
    return [Row("plain Playwright loop", tabs, written, bare), Row("sumi mirror", tabs, mirrored, ours)]


def report(rows: list[Row], browser: str) -> None:
    lines = [
        "| contender | tabs | pages | pages/min | CPU s/page | peak MB |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        cost = row.cost
        pace = f"{row.per_minute:.0f} | {cost.cpu_seconds / max(row.pages, 1):.2f}"
        lines.append(f"| {row.name} | {row.tabs} | {row.pages} | {pace} | {cost.tree_mb:.0f} |")
    machine = (
        f"Python {platform.python_version()}, {Path(browser).name} {browser_version(browser)}, "
        f"{os.cpu_count()} cores"
    )
    table = "\n".join([*lines, "", machine, ""])
    print(table)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "rendering.md").write_text(f"# Rendering\n\n{table}")
    record = [{"name": row.name, "tabs": row.tabs, "pages": row.pages, **row.cost._asdict()} for row in rows]
    (RESULTS / "rendering.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
