"""Manuals from Debian's documentation packages, mirrored once over loopback."""

import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from socket import create_connection
from typing import Final

MANUALS: Final = {
    "python": Path("/usr/share/doc/python3-doc/html"),
    "git": Path("/usr/share/doc/git-doc"),
    "postgres": Path("/usr/share/doc/postgresql-doc-15/html"),
    "sqlite": Path("/usr/share/doc/sqlite3"),
}
# For one list of questions only, on which nothing was ever chosen.
OTHERS: Final = {
    "django": Path("/usr/share/doc/python-django-doc/html"),
    "rust": Path("/usr/share/doc/rust-doc/html/book"),
    "zsh": Path("/usr/share/doc/zsh-common/html"),
    "mkdocs": Path("/usr/share/doc/mkdocs/html"),
}
_PACKAGES: Final = "python3-doc git-doc postgresql-doc-15 sqlite3-doc"
_OTHER_PACKAGES: Final = "python-django-doc rust-doc zsh-doc mkdocs-doc"
_ONLY: Final = {"rust": "ch*.html"}  # without the former editions of the book
_LEADS_ON: Final = re.compile(rb'http-equiv="refresh"', re.IGNORECASE)
_FIRST_PORT: Final = 18701
_DONE: Final = "complete"


def host(name: str) -> str:
    return f"127.0.0.1:{_FIRST_PORT + [*MANUALS, *OTHERS].index(name)}"


def mirrored(folder: Path, *, others: bool = False) -> Path:
    """The output folder with all four."""
    manuals = OTHERS if others else MANUALS
    if (folder / _DONE).exists():
        return folder / "output"
    missing = [str(path) for path in manuals.values() if not path.is_dir()]
    if missing:
        sys.exit(f"missing: {', '.join(missing)} ({_OTHER_PACKAGES if others else _PACKAGES})")
    shutil.rmtree(folder, ignore_errors=True)
    for name, source in manuals.items():
        print(f"mirroring {name}", file=sys.stderr)
        served = folder / "sites" / name
        shutil.copytree(source, served, ignore_dangling_symlinks=True)
        for page in served.rglob("*.html"):
            if others and (not page.match(_ONLY.get(name, "*")) or _LEADS_ON.search(page.read_bytes())):
                page.unlink()
        _mirror(name, served, folder / "output")
    (folder / _DONE).touch()
    return folder / "output"


def _mirror(name: str, served: Path, output: Path) -> None:
    """Every page: manuals do not link to all of theirs, so a sitemap lists them."""
    paths = sorted(path.relative_to(served).as_posix() for path in served.rglob("*.html"))
    urls = "".join(f"<url><loc>http://{host(name)}/{path}</loc></url>" for path in paths)
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    (served / "sitemap.xml").write_text(f'<?xml version="1.0"?><urlset xmlns="{schema}">{urls}</urlset>')
    address, _, port = host(name).partition(":")
    server = subprocess.Popen([sys.executable, "-m", "benchmarks.static_server", str(served), port])
    try:
        _wait_for(address, int(port))
        words = ["mirror", f"http://{host(name)}/", "--output", str(output), "--rate-limit", "0", "--quiet"]
        subprocess.run(
            [sys.executable, "-m", "sumi", *words, "--no-history", "--no-index"], check=False, timeout=1800
        )
    finally:
        server.kill()
        server.wait()


def _wait_for(address: str, port: int) -> None:
    for _ in range(200):
        with suppress(OSError), create_connection((address, port), timeout=1):
            return
        time.sleep(0.05)
    sys.exit(f"no server at {address}:{port}")
