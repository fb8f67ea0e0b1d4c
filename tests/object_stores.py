"""S3 servers of the tests' own, each in a process of its own: two that were written independently."""

import atexit
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from functools import cache
from importlib.util import find_spec

import pytest

BUCKET = "pages"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER", "AWS_REGION": "us-east-1"}


class ObjectServer:
    def __init__(self, program: list[str]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._program = [part.format(port=self.port) for part in program]
        self.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environ(self) -> dict[str, str]:
        return {**CREDENTIALS, "AWS_ENDPOINT_URL_S3": self.endpoint}

    def start(self) -> None:
        self._process = subprocess.Popen(self._program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.stop)
        deadline = time.monotonic() + 60
        while not self._answers():
            assert self._process.poll() is None, f"{self._program[0]} ended at once"
            assert time.monotonic() < deadline, f"{self._program[0]} does not answer"
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(self.endpoint, timeout=5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True


@cache
def moto() -> ObjectServer:
    if find_spec("moto") is None or find_spec("flask") is None:
        pytest.skip("moto[server] is not installed")
    server = ObjectServer(
        [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p{port}"]
    )
    request = urllib.request.Request(f"{server.endpoint}/{BUCKET}", method="PUT")
    urllib.request.urlopen(request, timeout=30).close()
    return server


@cache
def s3rver() -> ObjectServer:
    return own_s3rver()


def own_s3rver() -> ObjectServer:
    """One that may be stopped and started again: it keeps its objects in files."""
    program = shutil.which("s3rver")
    if program is None:
        pytest.skip("s3rver is not installed (npm install -g s3rver)")
    folder = tempfile.mkdtemp(prefix="sumi-s3rver-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    flags = ["-d", folder, "-a", "127.0.0.1", "-p", "{port}", "--silent", "--configure-bucket", BUCKET]
    return ObjectServer([program, *flags])


SERVERS = {"moto": moto, "s3rver": s3rver}
