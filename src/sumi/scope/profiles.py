"""Kinds of pages on well-known sites, told from the path of a URL.

A profile knows the form of its site's URLs and nothing else.
"""

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final, Protocol

# Names of accounts are letters, digits and hyphens, with an underscore before the name of a company that
# manages them; those of repositories may have dots too, but are not "." or "..", which no URL keeps anyway.
_OWNER: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.IGNORECASE | re.ASCII)
_REPOSITORY: Final = re.compile(r"[a-z0-9._-]{1,100}", re.IGNORECASE | re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]+", re.ASCII)
# First segments that are GitHub's own and never an account: below them, two segments are no repository.
_RESERVED: Final = frozenset(
    {
        *("about", "account", "apps", "blog", "codespaces", "collections", "contact", "customer-stories"),
        *("dashboard", "discussions", "edu", "enterprise", "events", "explore", "features", "gist"),
        *("github-copilot", "home", "images", "issues", "join", "login", "logout", "marketplace", "mobile"),
        *("new", "newsroom", "nonprofit", "notifications", "organizations", "orgs", "partners"),
        *("password_reset", "premium-support", "pricing", "pulls", "readme", "resources", "search"),
        *("security", "sessions", "settings", "site", "site-policy", "solutions", "sponsors", "stars"),
        *("stories", "team", "teams", "topics", "trending", "users", "watching", "why-github"),
    }
)


class GithubShapes:
    """The pages of GitHub that the profile names; owners, trees, commits, searches and settings are not.

    ===========  ==================================================================
    topic        ``/topics``, ``/topics/<topic>``
    trending     ``/trending``
    repo_root    ``/<owner>/<repo>``
    blob         ``/<owner>/<repo>/blob/…``
    issues       ``/<owner>/<repo>/issues``, ``/<owner>/<repo>/issues/<number>``
    pull         ``/<owner>/<repo>/pull``, ``/<owner>/<repo>/pull/<number>``
    ===========  ==================================================================
    """

    page_types: Final = ("topic", "trending", "repo_root", "blob", "issues", "pull")

    def page_type(self, path: str) -> str | None:
        return _page_type(path)

    def group_of(self, path: str) -> str | None:
        """``owner/repo`` in lower case: GitHub shows the same repository however it is spelled, with the
        ``.git`` of its clone address too, and no repository's own name ends so."""
        segments = path.split("/", 3)[1:3]
        if len(segments) < 2 or not _is_repository(*segments):
            return None
        return "/".join(segments).lower().removesuffix(".git")


# The scope, the caps and the archive each want to know what a page is, one after the other.
@lru_cache(maxsize=512)
def _page_type(path: str) -> str | None:
    match path.split("/", 5)[1:]:
        case ["topics"] | ["topics", _]:
            return "topic" if path != "/topics/" else None
        case ["trending"]:
            return "trending"
        case [owner, repo, *rest] if _is_repository(owner, repo):
            return _type_within(rest)
        case _:
            return None


# A page links mostly to pages of its own repository.
@lru_cache(maxsize=512)
def _is_repository(owner: str, repo: str) -> bool:
    if _OWNER.fullmatch(owner) is None or _REPOSITORY.fullmatch(repo) is None:
        return False
    return owner.lower() not in _RESERVED


def _type_within(rest: list[str]) -> str | None:
    """``rest`` is what follows the repository: at most three segments, the last one with all that is left."""
    match rest:
        case []:
            return "repo_root"
        case ["blob", first, *_] if first:
            return "blob"
        case ["issues" | "pull" as kind]:
            return kind
        case ["issues" | "pull" as kind, number] if _NUMBER.fullmatch(number):
            return kind
        case _:
            return None


_PAGE: Final = "page"


class GenericShapes:
    page_types: Final = (_PAGE,)

    def page_type(self, path: str) -> str | None:
        return _PAGE

    def group_of(self, path: str) -> str | None:
        return None


class ProfileName(StrEnum):
    GITHUB = "github"
    GENERIC = "generic"


class Shapes(Protocol):
    """All paths are of normalized URLs, without needless escapes."""

    @property
    def page_types(self) -> tuple[str, ...]:
        """The types that pages of the profile have."""
        ...

    def page_type(self, path: str) -> str | None:
        """The type of the page at a path; None for a path that is none of the profile's pages."""
        ...

    def group_of(self, path: str) -> str | None:
        """What the page is counted with: on GitHub its repository; None for a page that stands alone."""
        ...


_SHAPES: dict[str, Shapes] = {ProfileName.GITHUB: GithubShapes(), ProfileName.GENERIC: GenericShapes()}


def shapes_of(profile: ProfileName) -> Shapes:
    return _SHAPES[profile]
