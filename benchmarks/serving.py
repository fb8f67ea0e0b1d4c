"""The site on a loopback port: nginx with one worker if it is installed, else a small server of our own.

Both send pages compressed beforehand (gzip_static), so that nothing is compressed while the clock runs, and
write no access log.
"""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NGINX_CONFIG = """
daemon off;
worker_processes 1;
pid {run}/nginx.pid;
error_log {run}/error.log;
events {{ worker_connections 1024; }}
http {{
  types {{ text/html html; text/plain txt; application/xml xml; }}
  access_log off;
  sendfile on;
  keepalive_requests 1000000;
  gzip off;
  gzip_static on;
  client_body_temp_path {run}/body;
  proxy_temp_path {run}/proxy;
  fastcgi_temp_path {run}/fastcgi;
  uwsgi_temp_path {run}/uwsgi;
  scgi_temp_path {run}/scgi;
  server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


@contextmanager
def served(folder: Path, port: int) -> Iterator[str]:
    """Yields the server's name once it answers."""
    with tempfile.TemporaryDirectory() as run:
        name, command = _server(folder, port, Path(run))
        with subprocess.Popen(command) as server:
            try:
                wait_until_open(port, server)
                yield name
            finally:
                server.terminate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _server(folder: Path, port: int, run: Path) -> tuple[str, list[str]]:
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if nginx is None:
        return "asyncio static server", [
            sys.executable,
            "-m",
            "benchmarks.static_server",
            str(folder),
            str(port),
        ]
    config = run / "nginx.conf"
    config.write_text(NGINX_CONFIG.format(run=run, port=port, root=folder))
    run.chmod(0o755)
    return "nginx", [nginx, "-p", str(run), "-e", str(run / "error.log"), "-c", str(config)]


def wait_until_open(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"the web server did not open port {port}")
