"""A site of any number of URLs that costs no disk: nginx answers its pages from one line of configuration.

``/index.html`` leads to hubs, each hub to a thousand pages: so a crawler knows all of them after it has read
few. The access log tells which pages were asked for, and when.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.serving import NGINX_CONFIG, free_port, wait_until_open

PER_HUB: Final = 1000
PAGE: Final = "<!DOCTYPE html><title>A page</title><p>Some words, and <a href=/index.html>the start</a>.</p>"
_PLAIN: Final = "server {{ listen 127.0.0.1:{port}; root {root}; }}"
_LOGGED: Final = """server {{
    listen 127.0.0.1:{port}; root {root}; access_log {run}/access.log;
    location /p/ {{ default_type text/html; return 200 '%s'; }}
  }}"""


class HubSite:
    def __init__(self, origin: str, log: Path) -> None:
        self.origin = origin
        self._log = log
        self._read = 0  # bytes of the log, which ends with a whole line whenever one looks
        self._asked = 0

    def asked(self) -> int:
        """How many pages were asked for so far, hubs apart. Called often, it reads only what is new."""
        if self._log.exists():
            with self._log.open("rb") as log:
                log.seek(self._read)
                fresh = log.read()
            self._read += len(fresh)
            self._asked += fresh.count(b'"GET /p/')
        return self._asked


@contextmanager
def hub_site(folder: Path, urls: int) -> Iterator[HubSite]:
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if nginx is None:
        raise SystemExit("nginx is not installed; try apt install nginx-light")
    root, run, port = folder / "hubs", folder / "nginx", free_port()
    folder.chmod(0o755)  # nginx gives up its rights and must still be able to read
    _write_hubs(root, urls // PER_HUB)
    run.mkdir()
    config = run / "nginx.conf"
    text = NGINX_CONFIG.replace(_PLAIN, _LOGGED % PAGE)
    config.write_text(text.format(run=run, port=port, root=root))
    with subprocess.Popen([nginx, "-p", str(run), "-e", str(run / "error.log"), "-c", str(config)]) as server:
        try:
            wait_until_open(port, server)
            yield HubSite(f"http://127.0.0.1:{port}", run / "access.log")
        finally:
            server.terminate()


def _write_hubs(root: Path, hubs: int) -> None:
    root.mkdir()
    names = "".join(f"<a href=/hub-{hub}.html>{hub}</a>\n" for hub in range(hubs))
    (root / "index.html").write_text(f"<!DOCTYPE html><title>Hubs</title>{names}")
    for hub in range(hubs):
        numbers = range(hub * PER_HUB, (hub + 1) * PER_HUB)
        links = "".join(f"<a href=/p/{number}.html>{number}</a>\n" for number in numbers)
        (root / f"hub-{hub}.html").write_text(f"<!DOCTYPE html><title>Hub {hub}</title>{links}")
