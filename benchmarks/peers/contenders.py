"""Who competes at what: for each job the commands, and how to read afterwards which pages each got."""

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from benchmarks.peers.environments import Environment
from benchmarks.peers.kept_pages import CONCURRENCY
from benchmarks.real_site import INDEX, URL_LIST

SCRIPTS: Final = Path(__file__).parent
OURS: Final = Environment(sys.executable, Path.cwd(), "")
PAGES: Final = r"\.html$"


class Task(NamedTuple):
    origin: str
    output: Path
    pages: int  # of the computed web, where there is no site


class Contender(NamedTuple):
    name: str
    needs: str  # an environment; "" for ours
    command: Callable[[Environment, Task], list[str]]
    found: Callable[[Path], set[str]]  # in the output: the paths of URLs, or whole URLs of a computed web
    fine: tuple[int, ...] = (0,)
    comes_to_an_end: bool = True  # if it is only waited for


# ── Sumi, and the most that its libraries can do ───────────────────────────────────────────────────────


def sumi_mirror(env: Environment, task: Task) -> list[str]:
    words = [env.program, "-m", "sumi", "mirror", task.origin + INDEX, "--rate-limit", "0", "--quiet"]
    words += [
        "--no-respect-robots",
        "--max-pages",
        "0",
        "--include",
        "*.html",
        "--concurrency",
        str(CONCURRENCY),
    ]
    return [*words, "--output", str(task.output)]


def sumi_unified(env: Environment, task: Task) -> list[str]:
    """The configuration that a user would write; archive, index and metadata are durable."""
    host = urlsplit(task.origin).netloc
    workspace = task.output / "workspace"
    workspace.mkdir(parents=True)
    (workspace / "seeds.txt").write_text(f"{task.origin}{INDEX}\n")
    config = task.output / "crawl.yaml"
    limits = f"req_per_sec: 10000, global_concurrency: {CONCURRENCY}, per_host_concurrency: {CONCURRENCY}"
    config.write_text(f"""
user_agent: benchmark/1.0 (+https://example.org/bot)
profile: generic
robots: {{respect: false}}
scope: {{allowed_hosts: ["{host}"], allow_patterns: ['{PAGES}']}}
limits: {{{limits}}}
network: {{allow_private: true}}
store: {{compress: true}}
""")
    words = ["run", "--config", str(config), "--unified", "--run-id", "one", "--min-free", "0", "-q"]
    return [env.program, "-m", "sumi", *words]


def sumi_map(env: Environment, task: Task) -> list[str]:
    words = ["-m", "benchmarks.map", "--pages", str(task.pages), "--folder", str(task.output)]
    return [env.program, *words]


def bare_loop(processes: int, *more: str) -> Callable[[Environment, Task], list[str]]:
    """One process finds the pages; several are given the list, so that they need not talk to each other."""
    listed = ["--list", URL_LIST, "--processes", str(processes)] if processes > 1 else []

    def command(env: Environment, task: Task) -> list[str]:
        return [env.program, "-m", "benchmarks.bare_loop", task.origin, str(task.output), *listed, *more]

    return command


# ── peers ──────────────────────────────────────────────────────────────────────────────────────────────


def script(name: str, *first: str) -> Callable[[Environment, Task], list[str]]:
    """A module of ours for a Python environment, or a file for Node."""

    def command(env: Environment, task: Task) -> list[str]:
        program = [str(SCRIPTS / name)] if name.endswith(".mjs") else ["-m", f"benchmarks.peers.{name}"]
        return [env.program, *program, *first, task.origin, str(task.output)]

    return command


def scrapy_edges(env: Environment, task: Task) -> list[str]:
    return [env.program, "-m", "benchmarks.peers.scrapy_edges", str(task.pages), str(task.output)]


def wget2(env: Environment, task: Task) -> list[str]:
    """Filtering before it asks, and letting fragments pass, is for its good.

    Without the first it asks for whatever else has the host's name, on any port, and goes on asking where
    nobody listens; without the second it loses pages that it meets with a fragment first.
    """
    words = [env.program, "--recursive", "--level=0", "--quiet", "--robots=off", "--follow-tags=a"]
    words += [r"--accept-regex=\.html(#.*)?$", "--filter-urls", f"--max-threads={CONCURRENCY}"]
    words += ["--no-host-directories"]
    return [*words, "-P", str(task.output / "pages"), task.origin + INDEX]


def httrack(env: Environment, task: Task) -> list[str]:
    """One connection: with several it waits for most of the time, on nginx as on other servers."""
    words = [
        env.program,
        task.origin + INDEX,
        "-O",
        str(task.output),
        "-q",
        "-s0",
        "-c1",
        "-%c0",
        "-A0",
        "-I0",
    ]
    return [*words, "--disable-security-limits", "-*", f"+{urlsplit(task.origin).netloc}/*.html"]


# ── what was found ─────────────────────────────────────────────────────────────────────────────────────


def kept_files(folder: Path) -> set[str]:
    root = folder / "pages"
    files = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return {"/" + name.removesuffix(".md") for name in files}


def loop_pages(folder: Path) -> set[str]:
    """Every process of the bare loop has a database of its own."""
    query = "SELECT url FROM pages WHERE status = 200"
    parts = (database_pages(file.name, query)(folder) for file in folder.glob("part-*.db"))
    return {urlsplit(url).path for part in parts for url in part}


def httrack_files(folder: Path) -> set[str]:
    roots = [path for path in folder.glob("127.0.0.1*") if path.is_dir()]
    return {f"/{path.relative_to(root).as_posix()}" for root in roots for path in root.rglob("*.html")}


def manifest_pages(folder: Path) -> set[str]:
    pages = [
        page for file in folder.glob("*/_manifest.json") for page in json.loads(file.read_bytes())["pages"]
    ]
    return {urlsplit(page["url"]).path for page in pages}


def metadata_pages(folder: Path) -> set[str]:
    lines = (folder / "workspace" / "metadata" / "crawl_metadata.jsonl").read_text().splitlines()
    rows = (json.loads(line) for line in lines)
    return {urlsplit(row["url"]).path for row in rows if row["http_status"] == 200}


def database_pages(name: str, query: str) -> Callable[[Path], set[str]]:
    def found(folder: Path) -> set[str]:
        with sqlite3.connect(folder / name) as db:
            urls = {url for (url,) in db.execute(query)}
        db.close()
        return urls

    return found


MAPPED: Final = "SELECT url FROM pages WHERE state = 'Processed'"
SUMI: Final = "Sumi"
# Ends the name of a job whose peers would not be through with the whole site.
FEW_PAGES: Final = ", few pages"
# Links that lead nowhere make a run partial, which is exit code 1.
MIRROR: Final = Contender(SUMI, "", sumi_mirror, manifest_pages, (0, 1))
ARCHIVE: Final = Contender(SUMI, "", sumi_unified, metadata_pages, (0, 1))
MARKDOWNIFY: Final = Contender(
    "Scrapy, tuned, + markdownify", "scrapy", script("scrapy_site", "markdownify"), kept_files
)
CRAWLEE_TUNED: Final = "Crawlee (Python), tuned: nothing on disk"
JOBS: Final = {
    "mirror": (
        MIRROR,
        MARKDOWNIFY,
        Contender("Scrapy, tuned, + turbohtml", "scrapy", script("scrapy_site", "turbohtml"), kept_files),
        Contender(
            "Crawlee (Python) + turbohtml", "crawlee", script("crawlee_documented", "turbohtml"), kept_files
        ),
        Contender(
            f"{CRAWLEE_TUNED}, + turbohtml", "crawlee", script("crawlee_site", "turbohtml"), kept_files
        ),
        Contender("bare loop, 1 process", "", bare_loop(1), loop_pages),
        Contender("bare loop, 2 processes", "", bare_loop(2), loop_pages),
    ),
    f"mirror{FEW_PAGES}": (
        MIRROR,
        MARKDOWNIFY,
        Contender("Crawl4AI, HTTP strategy", "crawl4ai", script("crawl4ai_site"), kept_files),
    ),
    "archive": (
        ARCHIVE,
        Contender("Scrapy, tuned", "scrapy", script("scrapy_site", "raw"), kept_files),
        Contender("Scrapy", "scrapy", script("scrapy_tutorial"), kept_files),
        Contender("Crawlee (Python)", "crawlee", script("crawlee_documented", "raw"), kept_files),
        Contender(CRAWLEE_TUNED, "crawlee", script("crawlee_site", "raw"), kept_files),
        Contender("Crawlee (JavaScript)", "crawlee-js", script("crawlee_site.mjs"), kept_files),
        # 8: the server answered something with an error, as it does for links that lead nowhere.
        Contender("wget2 -r", "wget2", wget2, kept_files, (0, 8)),
        Contender("bare loop, 1 process", "", bare_loop(1, "--raw"), loop_pages),
        Contender("bare loop, 2 processes", "", bare_loop(2, "--raw"), loop_pages),
    ),
    f"archive{FEW_PAGES}": (
        ARCHIVE,
        Contender("HTTrack", "httrack", httrack, httrack_files, (0, 255), comes_to_an_end=False),
        Contender(
            "spider-rs (Node)",
            "spider-rs",
            script("spider_rs_site.mjs"),
            kept_files,
            comes_to_an_end=False,
        ),
    ),
    "links": (
        Contender(SUMI, "", sumi_map, database_pages("map.db", MAPPED)),
        Contender("Scrapy", "scrapy", scrapy_edges, database_pages("edges.db", "SELECT url FROM pages")),
    ),
}
