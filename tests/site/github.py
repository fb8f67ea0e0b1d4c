"""A simulated GitHub: topics, repositories, their files, issues and pull requests, as many as one likes.

Nothing is stored. A name carries its number, and everything about a repository follows from that number and
the seed, so a world of a million pages costs no more than one of ten. What a page is, is told by what made
it and not by its URL: the judge shares no code with what it judges.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from tests.site.wording import NOUNS

HOST = "github.com"
# Repositories that /trending shows, and those that share a topic.
TRENDING = 25
PER_TOPIC = 30
NEXT_PULLS = 3  # that a pull request names


@dataclass(frozen=True, slots=True)
class Page:
    path: str
    kind: str  # topic, trending, repo_root, blob, issues or pull; "" for anything else that GitHub has
    title: str
    links: tuple[str, ...]  # as a page would write them


@dataclass(frozen=True, slots=True)
class Repository:
    number: int
    path: str  # /owner/name
    issues: int  # numbered from 1
    pulls: int  # numbered after the issues: both share one sequence
    files: tuple[str, ...]

    @property
    def first_pull(self) -> int:
        return self.issues + 1

    @property
    def last(self) -> int:
        return self.issues + self.pulls

    def blob(self, name: str) -> str:
        return f"{self.path}/blob/main/{name}"

    def pages(self) -> Iterator[tuple[str, str]]:
        """Every page that belongs to a policy's types and is linked from somewhere, with its type."""
        yield self.path, "repo_root"
        yield f"{self.path}/issues", "issues"
        yield from ((self.blob(name), "blob") for name in self.files)
        yield from ((f"{self.path}/issues/{n}", "issues") for n in range(1, self.first_pull))
        yield from ((f"{self.path}/pull/{n}", "pull") for n in range(self.first_pull, self.last + 1))


@dataclass(frozen=True)
class GithubWorld:
    repositories: int
    seed: int = 1

    def pages(self) -> Iterator[tuple[str, str]]:
        """What a crawl from /topics and /trending can take, with types."""
        yield "/topics", "topic"
        yield "/trending", "trending"
        yield from ((f"/topics/{name}", "topic") for name in self.topics())
        for number in range(self.repositories):
            yield from self.repository(number).pages()

    def topics(self) -> list[str]:
        count = max(1, -(-self.repositories // PER_TOPIC))
        return [f"{NOUNS[n % len(NOUNS)]}-{n}" for n in range(count)]

    def repository(self, number: int) -> Repository:
        return _repository(self.seed, number, self.repositories)

    def page(self, path: str) -> Page | None:
        """What stands at a path, however its owner and repository are spelled; None for a 404."""
        parts = path.strip("/").split("/")
        if parts[0] in FRONT:
            return FRONT[parts[0]](self, parts)
        if len(parts) == 1:
            return self._owner(parts[0].lower())
        repository = self._named(parts[0].lower(), parts[1].lower())
        return None if repository is None else _within(self, repository, path, parts[2:])

    def redirect(self, path: str) -> str | None:
        """GitHub sends the number of an issue to where it belongs, and /pull to the list."""
        parts = path.strip("/").split("/")
        if (
            len(parts) not in (3, 4)
            or (repository := self._named(parts[0].lower(), parts[1].lower())) is None
        ):
            return None
        if parts[2:] == ["pull"]:
            return f"{repository.path}/pulls"
        number = int(parts[3]) if len(parts) == 4 and parts[3].isdecimal() else 0
        if parts[2] == "issues" and repository.first_pull <= number <= repository.last:
            return f"{repository.path}/pull/{number}"
        if parts[2] == "pull" and 1 <= number < repository.first_pull:
            return f"{repository.path}/issues/{number}"
        return None

    def _named(self, owner: str, name: str) -> Repository | None:
        number = name.rpartition("-")[2]
        if not number.isdecimal() or int(number) >= self.repositories:
            return None
        repository = self.repository(int(number))
        return repository if repository.path == f"/{owner}/{name}".lower() else None

    def _owner(self, name: str) -> Page | None:
        number = name.rpartition("-")[2]
        count = _owners(self.repositories)
        if not number.isdecimal() or name != _owner_name(int(number) % count, self.seed):
            return None
        own = range(int(number), self.repositories, count)
        return Page(f"/{name}", "", name, tuple(self.repository(each).path for each in own))


def _owners(repositories: int) -> int:
    return max(1, repositories // 3)


def _owner_name(number: int, seed: int) -> str:
    return f"{NOUNS[(number + seed) % len(NOUNS)]}-{number}"


@lru_cache(maxsize=4096)
def _repository(seed: int, number: int, repositories: int) -> Repository:
    rng = Random(f"repository {seed} {number}")
    owner = _owner_name(number % _owners(repositories), seed)
    files = [f"src/{rng.choice(NOUNS)}_{n}.py" for n in range(rng.randint(5, 16))]
    return Repository(
        number,
        f"/{owner}/{rng.choice(NOUNS)}-{number}",
        issues=rng.randint(5, 24),
        pulls=rng.randint(2, 11),
        files=("README.md", *files),
    )


# ── pages ──────────────────────────────────────────────────────────────────────────────────────────────────


def _topics(world: GithubWorld, parts: list[str]) -> Page | None:
    names = world.topics()
    if parts == ["topics"]:
        return Page("/topics", "topic", "Topics", tuple(f"/topics/{name}" for name in names))
    if len(parts) != 2 or parts[1] not in names:
        return None
    first = names.index(parts[1])
    members = [world.repository(n).path for n in range(first, world.repositories, len(names))]
    extras = (f"/topics/{parts[1]}?l=python", "/explore", f"/sponsors/{parts[1]}")
    return Page(f"/topics/{parts[1]}", "topic", parts[1], (*members, *extras))


def _trending(world: GithubWorld, parts: list[str]) -> Page | None:
    shown = [world.repository(n).path for n in range(min(TRENDING, world.repositories))]
    links = (*shown, "/trending/python", "/trending?since=weekly", "/trending/developers")
    return Page("/trending", "trending" if len(parts) == 1 else "", "Trending", links)


def _home(world: GithubWorld, parts: list[str]) -> Page | None:
    return Page("/", "", "GitHub", ("/topics", "/trending", "/pricing", "/features/actions"))


def _own_page(world: GithubWorld, parts: list[str]) -> Page | None:
    return Page("/" + "/".join(parts), "", parts[-1], ("/", "/topics"))


FRONT = {
    "": _home,
    "topics": _topics,
    "trending": _trending,
    "explore": _own_page,
    "features": _own_page,
    "login": _own_page,
    "pricing": _own_page,
    "sponsors": _own_page,
}


def _within(world: GithubWorld, own: Repository, path: str, rest: list[str]) -> Page | None:
    match rest:
        case []:
            return Page(own.path, "repo_root", own.path, _root_links(own))
        case ["issues"]:
            numbered = (f"{own.path}/issues/{n}" for n in range(1, own.first_pull))
            links = (*numbered, f"{own.path}/issues?page=2", f"{own.path}/issues/new")
            return Page(f"{own.path}/issues", "issues", "Issues", links)
        case ["issues", number] if number.isdecimal() and 1 <= int(number) < own.first_pull:
            return Page(path, "issues", f"Issue {number}", _issue_links(world, own, int(number)))
        case ["pull", number] if number.isdecimal() and own.first_pull <= int(number) <= own.last:
            return Page(path, "pull", f"Pull request {number}", _pull_links(own, int(number)))
        case ["blob", "main", *name] if "/".join(name) in own.files:
            return Page(path, "blob", name[-1], _blob_links(own, "/".join(name)))
        case ["pulls" | "tree" | "commits" | "releases" | "actions", *_]:
            return Page(path, "", rest[0], (own.path,))
        case _:
            return None


def _root_links(own: Repository) -> tuple[str, ...]:
    owner = own.path.rpartition("/")[0]
    tabs = ("issues", "pulls", "pull", "actions", "releases", "stargazers", "commits/main", "tree/main/src")
    return (
        owner,
        *(f"{own.path}/{tab}" for tab in tabs),
        *(own.blob(name) for name in own.files),
        f"{own.path}/pull/{own.first_pull}",
        f"{own.path}?tab=readme-ov-file#readme",
        f"/login?return_to={own.path}",
        f"https://gist.github.com{owner}",
        f"https://raw.githubusercontent.com{own.path}/main/README.md",
        "https://docs.github.com/",
    )


def _issue_links(world: GithubWorld, own: Repository, number: int) -> tuple[str, ...]:
    other = world.repository((own.number * 7 + number) % world.repositories)
    return (
        own.path,
        f"{own.path}/issues",
        f"{own.blob(own.files[number % len(own.files)])}#L{number}",
        f"{own.path}/issues/{number % own.issues + 1}",
        # Written as an issue, it is sent on to the pull request.
        f"{own.path}/issues/{own.first_pull + number % own.pulls}",
        f"{other.path}/issues/{number % other.issues + 1}",
        "https://example.org/elsewhere",
    )


def _pull_links(own: Repository, number: int) -> tuple[str, ...]:
    following = range(number + 1, min(number + NEXT_PULLS, own.last) + 1)
    tabs = (f"{own.path}/pull/{number}/{tab}" for tab in ("commits", "files", "checks"))
    return (own.path, *(f"{own.path}/pull/{n}" for n in following), *tabs)


def _blob_links(own: Repository, name: str) -> tuple[str, ...]:
    places = ("raw", "blame", "commits", "edit")
    return (own.path, f"{own.path}/tree/main", *(f"{own.path}/{place}/main/{name}" for place in places))
