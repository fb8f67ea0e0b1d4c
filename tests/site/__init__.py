"""The hostile website for tests: ``with running_site(pages=50, seed=1) as s: …``."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import msgspec

from tests.site.content import RobotsPreset, SiteOptions, small_truth
from tests.site.log import LoggedRequest, read_log
from tests.site.sitemaps import SitemapPreset
from tests.site.truth import Truth, site
from tests.warm import Site

__all__ = [
    "LoggedRequest",
    "MakeSite",
    "RobotsPreset",
    "RunningSite",
    "SitemapPreset",
    "Truth",
    "running_site",
    "site",
    "small_truth",
]


class _Ports(msgspec.Struct):
    http: int
    https: int


@dataclass(frozen=True)
class RunningSite:
    port: int
    tls_port: int
    ca_file: Path
    truth: Truth
    log: Path

    @property
    def url(self) -> str:
        """Without a slash at the end, so that ``s.url + path`` is the page's URL."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def tls_url(self) -> str:
        return f"https://127.0.0.1:{self.tls_port}"

    def requests(self) -> list[LoggedRequest]:
        """All so far, in the order of their arrival."""
        return read_log(self.log)

    def requests_to(self, path: str) -> list[LoggedRequest]:
        return [request for request in self.requests() if request.path == path]

    def clear_log(self) -> None:
        os.truncate(self.log, 0)


MakeSite: TypeAlias = Callable[..., RunningSite]  # takes what ``running_site`` takes, by name


@contextmanager
def running_site(
    pages: int = 50,
    seed: int = 1,
    *,
    body_size: int = 4096,
    delay_ms: int = 0,
    robots: str = RobotsPreset.DEFAULT,
    sitemap: SitemapPreset = SitemapPreset.INDEX,
    github: int = 0,
) -> Iterator[RunningSite]:
    """A server process of its own, listening when the block begins and gone when it ends."""
    options = SiteOptions(pages, seed, body_size, sitemap, robots, delay_ms, github)
    with tempfile.TemporaryDirectory(prefix="sumi-site-") as name:
        folder = Path(name)
        server = Site(_words(options, folder))
        try:
            yield _connect(server, options, folder)
        finally:
            server.stop()


def _words(options: SiteOptions, folder: Path) -> list[str]:
    values = {
        "--pages": options.pages,
        "--seed": options.seed,
        "--body-size": options.body_size,
        "--delay-ms": options.delay_ms,
        "--robots": options.robots,
        "--sitemap": options.sitemap,
        "--github": options.github,
        "--port-file": folder / "ports.json",
        "--log": folder / "requests.jsonl",
        "--tls-dir": folder,
    }
    flags = [word for flag, value in values.items() for word in (flag, str(value))]
    return [*flags, "--stop-with-stdin"]


def _connect(server: Site, options: SiteOptions, folder: Path) -> RunningSite:
    line = server.first_line()
    if not line.endswith(b"\n"):
        raise RuntimeError("the test site did not start")
    ports = msgspec.json.decode(line, type=_Ports)
    return RunningSite(ports.http, ports.https, folder / "ca.pem", options.truth(), folder / "requests.jsonl")
