"""The simulated GitHub over HTTP: pages with validators, redirects, and a robots.txt like the real one."""

import hashlib
from html import escape
from random import Random

from tests.site.github import GithubWorld, Page
from tests.site.wire import Asked, Reply, page
from tests.site.wording import paragraph

LAST_MODIFIED = "Wed, 01 May 2024 00:00:00 GMT"

# What the real one forbids to everybody, shortened: generated views, raw files, searches, sign-in.
DISALLOW = (
    "/*/*/pulse",
    "/*/*/projects",
    "/*/*/forks",
    "/*/*/issues/new",
    "/*/*/milestones/new",
    "/*/*/issues/search",
    "/*/*/commits/",
    "/*/*/branches",
    "/*/*/contributors",
    "/*/*/tags",
    "/*/*/stargazers",
    "/*/*/watchers",
    "/*/*/network",
    "/*/*/graphs",
    "/*/*/compare",
    "/*/tree/",
    "/*/*/blame/",
    "/*/raw/",
    "/*/*/edit/",
    "/*/*/archive/",
    "/gist/",
    "/search/advanced",
    "/search$",
    "/*q=",
    "/*.atom$",
    "/login",
    "/account-login",
    "/*?tab=*",
    "/*?source=*",
    "/*?*after=*",
)
ROBOTS = "# If you would like to crawl GitHub contact us first.\n\nUser-agent: baidu\ncrawl-delay: 1\n\n" + (
    "\n".join(["User-agent: *", *(f"Disallow: {path}" for path in DISALLOW)]) + "\n"
)


class Github:
    def __init__(self, world: GithubWorld) -> None:
        self._world = world

    def answer(self, asked: Asked) -> Reply:
        if asked.path == "/robots.txt":
            return Reply(200, ROBOTS.encode(), "text/plain; charset=utf-8")
        found = self._world.page(asked.path)
        if found is not None:
            return _reply(found, self._world.seed)
        target = self._world.redirect(asked.path)
        if target is not None:
            return Reply(302, page("Moved"), headers=(("Location", asked.origin + target),))
        return Reply(404, page("Page not found"))


def _reply(found: Page, seed: int) -> Reply:
    text = paragraph(Random(f"github {seed} {found.path}"))
    items = "".join(f'<li><a href="{escape(link)}">{escape(link)}</a></li>\n' for link in found.links)
    body = page(escape(found.title), f"<p>{text}</p>\n<ul>\n{items}</ul>")
    tag = hashlib.blake2b(body, digest_size=16).hexdigest()
    return Reply(200, body, headers=(("ETag", f'W/"{tag}"'), ("Last-Modified", LAST_MODIFIED)))
