"""What tests of captures share: a small documentation site, and readers of a store's jobs."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--processes", "0", "--allow-private")


@contextmanager
def sites(tmp_path: Path, count: int) -> Iterator[list[FolderSite]]:
    """Servers of their own: to each other they are external."""
    with ExitStack() as stack:
        yield [stack.enter_context(folder_site(tmp_path / f"site-{number}")) for number in range(count)]


def linked(*urls: str) -> str:
    return "".join(f'<p><a href="{url}">read on</a></p>' for url in urls)


def write_section(site: FolderSite, name: str, pages: int) -> None:
    """A start page that links to all pages of its section."""
    for number in range(pages):
        site.write(f"{name}/p{number}.html", f"<p>About {name}, part {number}: {'word ' * number}</p>")
    start = linked(*(f"/{name}/p{number}.html" for number in range(pages)))
    site.write(f"{name}/index.html", f"<p>The start of {name}</p>{start}")


def jobs(run_sumi: RunSumi) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run_sumi("capture", "list", "--json").stdout.splitlines()]


def shown(run_sumi: RunSumi, kind: str, *words: str) -> list[dict[str, Any]]:
    """Rows of one kind (job, page, failure) of a job, the last one if none is named."""
    done = run_sumi("capture", "show", "--json", *words)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row for row in rows if row["kind"] == kind]


def page_requests(site: FolderSite, since: int = 0) -> list[tuple[str, int]]:
    """What was asked of a site but robots.txt and sitemaps."""
    answers: Sequence[tuple[str, int]] = site.answers[since:]
    return [(path, status) for path, status in answers if "sitemap" not in path and path != "/robots.txt"]
