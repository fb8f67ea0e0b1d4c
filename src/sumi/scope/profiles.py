"""Types of pages on well-known sites, recognized by the path of a URL.

A profile knows the form of its site's URLs and nothing else.
"""

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final, Protocol

# Account names are letters, digits and hyphens, with an underscore before the name of a company that manages
# them. Repository names may have dots, too, but are not "." or "..", which no URL keeps anyway.
_OWNER: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.IGNORECASE | re.ASCII)
_REPOSITORY: Final = re.compile(r"[a-z0-9._-]{1,100}", re.IGNORECASE | re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]+", re.ASCII)
# First segments that belong to GitHub itself and are never an account: no repositories are below them.
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
    """The pages of GitHub in the profile; owners, trees, commits, searches and settings are not.

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
        """``owner/repo`` in lower case, without ``.git``: GitHub shows the same repository for every
        spelling, and no repository's own name ends in ``.git``."""
        segments = path.split("/", 3)[1:3]
        if len(segments) < 2 or not _is_repository(*segments):
            return None
        return "/".join(segments).lower().removesuffix(".git")


# The scope, the caps and the archive each need the type of a page, one after the other.
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
    """``rest``: what follows the repository, in at most three parts."""
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
    """Paths are those of normalized URLs, without unnecessary escapes."""

    @property
    def page_types(self) -> tuple[str, ...]:
        """The page types of the profile."""
        ...

    def page_type(self, path: str) -> str | None:
        """The type of the page at a path; None if it is not one of the profile's pages."""
        ...

    def group_of(self, path: str) -> str | None:
        """The group that the page is counted in: on GitHub its repository; None if it is in none."""
        ...


_SHAPES: dict[str, Shapes] = {ProfileName.GITHUB: GithubShapes(), ProfileName.GENERIC: GenericShapes()}


def shapes_of(profile: ProfileName) -> Shapes:
    return _SHAPES[profile]
