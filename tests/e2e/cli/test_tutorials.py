"""What a tutorial shows can be typed as it stands, on a site of one's own, and no command of it is wrong."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import sumi_environment

ROOT = Path(__file__).parents[3]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
GUIDES = [ROOT / "docs" / "guides" / f"{name}.md" for name in ("sources", "watch")]
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
WRONG = (2, 4, 5, 6, 7, 8)


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def script_of(page: Path, port: int) -> str:
    """The blocks, one after the other; a line for each exit code. What needs the web is left out."""
    lines = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8"))).splitlines()
    own = [line for line in lines if "github.com" not in line]
    told = [f'{line}; echo "code $?"' if line.startswith("sumi ") else line for line in own]
    start = "until curl -s -o /dev/null http://127.0.0.1:8000/; do sleep 0.1; done"
    at = next(number for number, line in enumerate(told) if line.startswith("python3 -m http.server"))
    told[at] = f"exec 3>&1; {told[at].removesuffix('&')} >/dev/null 2>&1 &\ntrap 'kill %1' EXIT\n{start}"
    return (
        "\n".join(re.sub(r"\s+# .*?(?=; echo|$)", "", line) for line in told)
        .replace(":8000", f":{port}")
        .replace("http.server 8000", f"http.server {port}")
    )


@pytest.mark.parametrize("page", TUTORIALS + GUIDES, ids=lambda page: page.stem)
def test_the_commands_of_a_tutorial_work(page: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sumi").write_text(f'#!/bin/sh\nexec {sys.executable} -m sumi "$@"\n')
    (tmp_path / "bin" / "sumi").chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script_of(page, free_port())],
        cwd=tmp_path,
        env=sumi_environment({"PATH": path}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    codes = [int(code) for code in re.findall(r"^code (\d+)$", done.stdout, re.MULTILINE)]
    assert len(codes) >= 3, done.stderr
    assert not set(codes) & set(WRONG), done.stdout + done.stderr


def test_there_is_a_tutorial_for_each_job() -> None:
    assert [page.stem for page in TUTORIALS] == ["capture", "crawl", "map", "mirror"]
