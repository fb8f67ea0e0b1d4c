"""Each peer in an environment of its own, installed once; never in the project's."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

INSTALL_SECONDS: Final = 900


class Environment(NamedTuple):
    """What a peer runs in: a program, and where it has to be started."""

    program: str
    folder: Path
    versions: str


class Missing(NamedTuple):
    reason: str


# Without versions: a comparison is with what its users get today. The page says which versions that were.
PYTHON_PACKAGES: Final = {
    "scrapy": ("scrapy", "markdownify", "turbohtml"),
    "crawlee": ("crawlee[parsel]", "turbohtml"),
    "crawl4ai": ("crawl4ai",),
}
# The meta package of Crawlee brings browsers and parsers that this job has no use for. spider-rs does not
# name the package with its machine code as a dependency.
NODE_PACKAGES: Final = {
    "crawlee-js": ("@crawlee/cheerio",),
    "spider-rs": ("@spider-rs/spider-rs", "@spider-rs/spider-rs-linux-x64-gnu"),
}
PROGRAMS: Final = ("wget2", "httrack", "wrk")


def environment(name: str, place: Path) -> Environment | Missing:
    if name in PYTHON_PACKAGES:
        return _python(name, place / "environments" / name)
    if name in NODE_PACKAGES:
        return _node(name, place / "environments" / name)
    return _program(name, place)


def _program(name: str, place: Path) -> Environment | Missing:
    found = shutil.which(name)
    if found is None:
        return Missing(f"{name} is not installed; try apt install {name}")
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    first = (told.stdout + told.stderr).strip().splitlines()[0]
    return Environment(found, place, _version(first))


def _version(line: str) -> str:
    found = re.search(r"\d+\.[\d.a-z-]*\d", line)  # the 2 of "Wget2" is none
    return found[0] if found else line


def _python(name: str, folder: Path) -> Environment | Missing:
    packages = PYTHON_PACKAGES[name]
    program = folder / "bin" / "python"
    if not _stamp(folder).exists():
        made = _run([sys.executable, "-m", "venv", str(folder)])
        made = made or _run([str(program), "-m", "pip", "install", "--quiet", *packages])
        if made:
            return Missing(f"pip install {' '.join(packages)}: {made}")
        _stamp(folder).touch()
    return Environment(str(program), Path.cwd(), _python_versions(program, packages))


def _python_versions(program: Path, packages: tuple[str, ...]) -> str:
    names = [package.partition("[")[0] for package in packages]
    code = (
        "import sys, importlib.metadata as m; print(', '.join(f'{n} {m.version(n)}' for n in sys.argv[1:]))"
    )
    told = subprocess.run([str(program), "-c", code, *names], capture_output=True, text=True, check=True)
    return told.stdout.strip()


def _node(name: str, folder: Path) -> Environment | Missing:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return Missing("node and npm are not installed; try apt install nodejs npm")
    if not _stamp(folder).exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        failed = _run([npm, "install", "--no-audit", "--no-fund", *NODE_PACKAGES[name]], folder)
        if failed:
            return Missing(f"npm install {' '.join(NODE_PACKAGES[name])}: {failed}")
        _stamp(folder).touch()
    listed = subprocess.run(
        [npm, "list", "--depth=0"], cwd=folder, capture_output=True, text=True, check=False
    )
    lines = listed.stdout.splitlines()[1:]  # the first names the folder
    names = [line.split()[-1] for line in lines if "@" in line and "linux" not in line]
    return Environment(node, folder, ", ".join(name.lstrip("@").replace("@", " ") for name in names))


def _run(command: list[str], folder: Path | None = None) -> str:
    """What went wrong, in a line; "" if nothing did."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"not done after {INSTALL_SECONDS} s"
    lines = (done.stdout + done.stderr).strip().splitlines() or ["no message"]
    telling = [line for line in lines if "error" in line.lower()] or lines
    return "" if done.returncode == 0 else telling[0][:200]


def _stamp(folder: Path) -> Path:
    return folder / ".installed"
