"""Which answer belongs to a request: by host, then by path."""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from tests.site import apps, bad_robots
from tests.site.github import HOST, GithubWorld
from tests.site.github_answers import Github
from tests.site.misbehaviour import PREFIX, misbehave
from tests.site.sitemaps import BAD_PARTS, SitemapPreset, sitemap_reply
from tests.site.truth import Truth, site
from tests.site.wire import Asked, Reply, Script, page

SMALL_HOST = re.compile(r"h([0-9]{1,9})\.test")
ROBOTS_HOST = re.compile(r"robots-([a-z0-9-]+)\.test")
HUB_HOST = re.compile(r"hub-([0-9]{1,4})\.test")
SMALL_PAGES = 5
REDIRECT_STATUSES = (301, 302, 303, 307, 308)
LAST_MODIFIED = "Wed, 01 May 2024 00:00:00 GMT"
CSS = b"main { max-width: 40rem; margin: auto; }\n"
CACHED_BYTES = 64 << 20


class RobotsPreset(StrEnum):
    DEFAULT = "default"  # /private/ is off limits; the sitemap is named
    UNNAMED = "unnamed"  # the same, without naming the sitemap
    CRAWL_DELAY = "crawl-delay"  # the default, with a Crawl-delay of one second
    SECTION = "disallow-section"  # the first section is off limits too
    DENY = "deny"  # everything is
    NONE = "none"  # 404


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """What a served site is made of; with the seed, all there is to know about it."""

    pages: int = 50
    seed: int = 1
    body_size: int = 4096
    sitemap: SitemapPreset = SitemapPreset.INDEX
    robots: str = RobotsPreset.DEFAULT  # a preset, or a file with the text
    delay_ms: int = 0  # before every answer
    github: int = 0  # repositories of the GitHub that answers to that name; 0 for none

    def truth(self) -> Truth:
        """For a crawler that obeys the preset; the text of a robots file is the caller's to interpret."""
        return site(
            self.seed,
            self.pages,
            body_size=self.body_size,
            disallow=self._disallow(),
            has_sitemap=self.sitemap is not SitemapPreset.NONE,
            bad_sitemaps=BAD_PARTS if self.sitemap is SitemapPreset.BROKEN else (),
        )

    def _disallow(self) -> tuple[str, ...]:
        if self.robots not in list(RobotsPreset):
            return ()
        section = site(self.seed, self.pages).graph.sections[0]
        special = {
            RobotsPreset.DENY: ("/",),
            RobotsPreset.SECTION: ("/private/", section),
            RobotsPreset.NONE: (),
        }
        return special.get(RobotsPreset(self.robots), ("/private/",))

    def robots_text(self, origin: str) -> str | None:
        if self.robots == RobotsPreset.NONE:
            return None
        if self.robots not in list(RobotsPreset):
            return Path(self.robots).read_text()
        lines = ["User-agent: *", *(f"Disallow: {path}" for path in self._disallow())]
        if self.robots == RobotsPreset.CRAWL_DELAY:
            lines.append("Crawl-delay: 1")
        if self.robots != RobotsPreset.UNNAMED and self.sitemap is not SitemapPreset.NONE:
            lines += ["", f"Sitemap: {origin}/sitemap.xml"]
        return "\n".join(lines) + "\n"


@dataclass
class Content:
    options: SiteOptions
    visits: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.truth = self.options.truth()
        github = self.options.github
        self.github = Github(GithubWorld(github, self.options.seed)) if github else None
        self.page = lru_cache(maxsize=max(64, CACHED_BYTES // self.options.body_size))(self._page)
        self.sitemap = lru_cache(maxsize=64)(self._sitemap)

    def answer(self, asked: Asked) -> Reply | Script:
        host = asked.host.partition(":")[0].lower()
        if host == HOST and self.github is not None:
            return self.github.answer(asked)
        if small := SMALL_HOST.fullmatch(host):
            return _small_site(int(small[1]), asked)
        if hub := HUB_HOST.fullmatch(host):
            return _hub(int(hub[1]), asked)
        if asked.path.startswith(apps.PREFIX):
            return apps.application(asked)
        if asked.path.startswith(PREFIX):
            return misbehave(self._counted(asked))
        if asked.path == "/robots.txt":
            return self._robots(asked, host)
        reply = self.page(asked.target) or self.sitemap(asked.origin, asked.path)
        return reply or _missing(asked)

    def _counted(self, asked: Asked) -> Asked:
        key = (asked.host, asked.target)
        self.visits[key] += 1
        return replace(asked, earlier=self.visits[key] - 1)

    def _robots(self, asked: Asked, host: str) -> Reply | Script:
        named = ROBOTS_HOST.fullmatch(host)
        if named and named[1] in bad_robots.ROUTES:
            return bad_robots.ROUTES[named[1]](self._counted(asked))
        text = self.options.robots_text(asked.origin)
        return _missing(asked) if text is None else Reply(200, text.encode(), "text/plain")

    def _page(self, target: str) -> Reply | None:
        return _page_reply(self.truth, target)

    def _sitemap(self, origin: str, path: str) -> Reply | None:
        return sitemap_reply(self.truth, self.options.sitemap, origin, path)


def small_truth(number: int) -> Truth:
    """The site of the host ``h<number>.test``: five plain pages, no robots.txt, no sitemap."""
    return site(number, SMALL_PAGES, disallow=(), has_sitemap=False)


def _small_site(number: int, asked: Asked) -> Reply:
    return _page_reply(small_truth(number), asked.target) or _missing(asked)


def _hub(hosts: int, asked: Asked) -> Reply:
    """``hub-<N>.test``: one page, with links to the hosts h1.test to h<N>.test; no robots.txt, no sitemap."""
    if asked.target != "/":
        return _missing(asked)
    port = asked.host.partition(":")[2]
    links = (f'<a href="http://h{n}.test:{port}/">Site {n}</a> ' for n in range(1, hosts + 1))
    return Reply(200, page("Sites", f"<p>{''.join(links)}</p>"))


def _page_reply(truth: Truth, target: str) -> Reply | None:
    if target in truth.pages:
        tag = f'"{truth.pages[target].marker}"'
        return Reply(200, truth.body(target), headers=(("ETag", tag), ("Last-Modified", LAST_MODIFIED)))
    if target in truth.redirects:
        status = REDIRECT_STATUSES[len(target) % len(REDIRECT_STATUSES)]
        return Reply(status, page("Moved"), headers=(("Location", truth.redirects[target]),))
    return None


def _missing(asked: Asked) -> Reply:
    if asked.path == "/style.css":
        return Reply(200, CSS, "text/css")
    return Reply(404, page("Not found"))
