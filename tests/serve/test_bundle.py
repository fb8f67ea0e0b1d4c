"""What browsers get is what is in web/: nobody has to trust a file that cannot be made again."""

import gzip
import json
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "sumi" / "serve" / "static"
FIRST_LOAD = ("index.html", "app.js", "app.css", "icon.svg")
MOST_BYTES = 48 * 1024  # gzipped


@pytest.mark.skipif(
    shutil.which("node") is None or not (ROOT / "web" / "node_modules").is_dir(),
    reason="building the page again needs node and the packages of web/: make web",
)
def test_the_page_is_made_of_its_sources(tmp_path: Path) -> None:
    built = subprocess.run(
        ["node", "build.mjs", tmp_path], cwd=ROOT / "web", capture_output=True, check=False
    )
    assert built.returncode == 0, built.stderr.decode()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in STATIC.iterdir()
    }


def test_every_file_has_the_hash_that_is_written_beside_it() -> None:
    sources = json.loads((STATIC / "SOURCES.json").read_text())
    files = {path.name for path in STATIC.iterdir()} - {"SOURCES.json", "LICENSES.txt"}
    assert files == set(sources["files"])
    for name, digest in sources["files"].items():
        assert sha256((STATIC / name).read_bytes()).hexdigest() == digest


def test_every_library_is_named_with_its_licence() -> None:
    libraries = json.loads((STATIC / "SOURCES.json").read_text())["libraries"]
    wanted = json.loads((ROOT / "web" / "package.json").read_text())["dependencies"]
    assert {
        name: library["version"] for library in libraries if (name := library["name"]) in wanted
    } == wanted
    licences = (STATIC / "LICENSES.txt").read_text()
    for library in libraries:
        assert library["license"] in ("MIT", "Apache-2.0")
        assert f"{library['name']} {library['version']}" in licences


def test_the_first_load_is_small_and_asks_nobody_else() -> None:
    assert sum(len(gzip.compress((STATIC / name).read_bytes(), 6)) for name in FIRST_LOAD) < MOST_BYTES
    for name in ("index.html", "app.css"):
        assert "http" not in (STATIC / name).read_text().replace("http-equiv", "")
