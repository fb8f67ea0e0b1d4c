"""The simulated GitHub is the same every time, whole by its own links, and large without being stored."""

import re
import socket
import ssl
from collections import Counter, deque
from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.site import MakeSite
from tests.site.github import GithubWorld
from tests.site.github_answers import Github
from tests.site.wire import Asked

SEEDS = ("/topics", "/trending")


def plain(link: str) -> str:
    return link.partition("#")[0].partition("?")[0]


def walk(world: GithubWorld) -> set[str]:
    """Everything that a reader can reach by pages of the six types, and by what they are redirected to."""
    wanted = dict(world.pages())
    seen, queue = set(SEEDS), deque(SEEDS)
    while queue:
        path = queue.popleft()
        page, target = world.page(path), world.redirect(path)
        links = page.links if page is not None else (target or "",)
        fresh = {plain(link) for link in links} - seen
        fresh = {link for link in fresh if link in wanted or (link.startswith("/") and world.redirect(link))}
        seen |= fresh
        queue.extend(fresh)
    return seen & wanted.keys()


def test_every_page_is_linked_and_is_what_it_is_said_to_be() -> None:
    world = GithubWorld(40, seed=3)
    pages = dict(world.pages())
    assert walk(world) == set(pages)
    for path, kind in pages.items():
        page = world.page(path)
        assert page is not None
        assert (page.path, page.kind) == (path, kind)


def test_twenty_thousand_pages_and_more_need_no_room() -> None:
    world = GithubWorld(620)
    kinds = Counter(kind for _, kind in world.pages())
    assert sum(kinds.values()) > 20_000
    assert set(kinds) == {"topic", "trending", "repo_root", "blob", "issues", "pull"}
    last = GithubWorld(1_000_000).repository(999_999)
    assert GithubWorld(1_000_000).page(last.path) is not None


def test_the_same_seed_gives_the_same_bytes_and_another_one_others() -> None:
    def front(seed: int) -> bytes:
        return Github(GithubWorld(30, seed)).answer(Asked("GET", "/trending", {})).body

    assert front(1) == front(1)
    assert front(1) != front(2)


@pytest.mark.parametrize("path", ["/no-such-owner", "/topics/none", "/a-0/b-0/issues/1", "/features"])
def test_only_what_exists_is_served(path: str) -> None:
    assert Github(GithubWorld(30)).answer(Asked("GET", path, {})).status == (
        200 if path == "/features" else 404
    )


def test_numbers_lead_to_where_they_belong_however_the_repository_is_spelled() -> None:
    world = GithubWorld(30)
    own = world.repository(3)
    assert world.redirect(f"{own.path}/issues/{own.first_pull}") == f"{own.path}/pull/{own.first_pull}"
    assert world.redirect(f"{own.path}/pull/1") == f"{own.path}/issues/1"
    assert world.redirect(f"{own.path}/pull") == f"{own.path}/pulls"
    assert world.redirect(f"{own.path}/issues/{own.last + 1}") is None
    assert world.page(own.path.upper()) is not None


def test_it_is_served_over_tls_under_its_own_name_with_validators(
    make_site: MakeSite, run_sumi: RunSumi
) -> None:
    site = make_site(pages=1, github=6)
    base = f"https://github.com:{site.tls_port}"
    reach = ("--resolve", f"github.com:{site.tls_port}:127.0.0.1", "--ca-file", str(site.ca_file))
    done = run_sumi(
        "mirror",
        f"{base}/topics",
        *reach,
        "--rate-limit",
        "0",
        "--max-pages",
        "3",
        "--follow-links",
        "--json",
    )
    assert done.events[-1]["outcomes"]["captured"] >= 1
    first = ask(site.tls_port, site.ca_file, "/trending")
    (tag,) = re.findall(r"ETag: (.+)\r\n", first)
    assert ask(site.tls_port, site.ca_file, "/trending", f"If-None-Match: {tag}\r\n").startswith(
        "HTTP/1.1 304"
    )


def ask(port: int, ca_file: Path, path: str, header: str = "") -> str:
    """The whole answer to a bare request."""
    context = ssl.create_default_context(cafile=ca_file)
    with (
        socket.create_connection(("127.0.0.1", port), timeout=30) as channel,
        context.wrap_socket(channel, server_hostname="github.com") as secure,
    ):
        lines = f"GET {path} HTTP/1.1\r\nHost: github.com:{port}\r\nConnection: close\r\n{header}\r\n"
        secure.sendall(lines.encode())
        return b"".join(iter(lambda: secure.recv(65536), b"")).decode()
