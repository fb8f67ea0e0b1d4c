"""Reading a hostile sitemap opens no file and no socket: the kernel is witness."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import sumi_environment
from tests.corpora import hostile_sitemaps

# Whatever is loaded late is loaded by the harmless file; the mark tells where the hostile ones begin.
READER = """
import os, sys
from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest
from sumi.parse.page.digester import digest
from sumi.policy import Preset

def read(body):
    url = "https://example.com/sitemap.xml"
    return digest(DigestRequest(url, body, "application/xml", Kind.SITEMAP, Preset.MIRROR))

hostile = [open(name, "rb").read() for name in sys.argv[1:]]
read(b"<urlset><url><loc>/a</loc></url></urlset>")
read("<!DOCTYPE x>".encode("utf-16"))
os.write(1, b"=== from here on\\n")
for body in hostile:
    read(body)
os.write(1, b"=== up to here\\n")
"""
FORBIDDEN = re.compile(r"^\S*\s*(open|openat|openat2|socket|connect|execve|sendto)\(", re.MULTILINE)


def tracing_works() -> bool:
    tracer = shutil.which("strace")
    if tracer is None:
        return False
    return (
        subprocess.run(
            [tracer, "-f", "-e", "trace=openat", "true"], capture_output=True, check=False
        ).returncode
        == 0
    )


@pytest.mark.skipif(not tracing_works(), reason="strace is missing or may not trace here")
def test_no_file_and_no_socket_is_opened(tmp_path: Path) -> None:
    files = []
    for number, text in enumerate(hostile_sitemaps.ALL.values()):
        for encoding in ("utf-8", "utf-16"):
            files.append(tmp_path / f"{number}-{encoding}.xml")
            files[-1].write_text(text, encoding=encoding)
    trace = tmp_path / "trace"
    command = [
        "strace",
        "-f",
        "-e",
        "trace=%file,%network,write,execve",
        "-o",
        str(trace),
        sys.executable,
        "-c",
        READER,
    ]
    run = subprocess.run(
        [*command, *map(str, files)], env=sumi_environment(None), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    told = trace.read_text(errors="replace")
    assert FORBIDDEN.search(told), "the trace shows not even Python's own files"
    hostile_part = told.partition("=== from here on")[2].partition("=== up to here")[0]
    assert hostile_part
    assert FORBIDDEN.findall(hostile_part) == []
