"""The commands that forms and buttons of the window amount to, as lists of words without ``sumi``.

Texts are passed on as they were typed, never to a shell: the command itself checks them.
"""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from sumi.catalogue.find import Job, JobKind
from sumi.errors import UsageError
from sumi.serve.job_logs import CAPTURE_LOG, log_of
from sumi.state.folder import CAPTURES
from sumi.urls.paths import host_folder


class JobRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the form for a new job has."""

    url: str
    kind: str = "mirror"
    folder: int = 0  # which of the window's folders
    max_pages: str = ""
    rate_limit: str = ""
    concurrency: str = ""
    max_depth: str = ""
    external_hops: str = ""  # of a capture
    domain_requests: str = ""
    pause: str = ""  # of a map, in milliseconds
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    contact: str = ""
    follow_links: bool = False
    render: bool = False
    assets: bool = False


_RENDER: Final = {"render": "--render=auto"}
FLAGS: Final[dict[str, dict[str, str]]] = {
    "mirror": {
        "max_pages": "--max-pages",
        "rate_limit": "--rate-limit",
        "concurrency": "--concurrency",
        "max_depth": "--max-depth",
        "contact": "--contact",
        "include": "--include",
        "exclude": "--exclude",
        **_RENDER,
        "follow_links": "--follow-links",
        "assets": "--assets",
    },
    "capture": {
        "max_pages": "--limit",
        "rate_limit": "--rate-limit",
        "concurrency": "--workers",
        "external_hops": "--external-hops",
        "contact": "--contact",
        "include": "--include",
        "exclude": "--exclude",
        **_RENDER,
    },
    "crawl": {
        "max_pages": "--max-pages",
        "rate_limit": "--rate-limit",
        "max_depth": "--max-depth",
        "contact": "--contact",
        "include": "--allow-pattern",
        "exclude": "--deny-pattern",
        **_RENDER,
    },
    "map": {
        "max_depth": "--max-depth",
        "domain_requests": "--max-domain-requests",
        "pause": "--minimum-time-on-page",
        "contact": "--contact",  # or its form for a map
        "exclude": "--blacklist",
        **_RENDER,
    },
}
_PLANNED_OF_CRAWL: Final = ("max_pages", "rate_limit", "max_depth", "contact")
# Where these commands keep their state by default.
_CRAWL_STATE, _MAP_DATABASE = "frontier", "map.db"


def command_for(request: JobRequest, places: Sequence[Path]) -> list[str]:
    if request.kind not in FLAGS:
        raise UsageError(f"a job is one of {', '.join(FLAGS)}")
    if not 0 <= request.folder < len(places):
        raise UsageError("this window has no such folder")
    place = places[request.folder]
    if place.is_file():
        raise UsageError(f"{place} is a file: open the window on a folder to start jobs in it")
    starts = request.url.split()
    if not starts:
        raise UsageError("there is no address to start from")
    flags = list(_flags(request, FLAGS[request.kind]))
    match request.kind:
        case "mirror":
            words = ["mirror", *flags, "--output", str(place)]
        case "capture":
            words = ["capture", *flags, "--captures", str(store_in(place))]
        case "crawl":
            # In one process, so that it is one job here, too, with one count of everything.
            words = ["run", "--unified", *flags, "--workspace", str(_folder_in(place, "crawl", starts[0]))]
        case _:
            words = ["map", *flags, "--output", str(_folder_in(place, "map", starts[0]))]
    return [*words, "--", *starts]


def store_in(place: Path) -> Path:
    """Of captures: a folder of their own, so that they do not lie among mirrors."""
    is_store = place.name == "captures" or (place / CAPTURES).is_file()
    return place if is_store else place / "captures"


def _folder_in(place: Path, kind: str, start: str) -> Path:
    """Named after where it begins. What is no address at all is refused by the command, before it writes."""
    url = start if "://" in start else f"https://{start.removeprefix('*.')}/"
    return place / f"{kind}-{host_folder(url)}"


def _flags(request: JobRequest, table: Mapping[str, str]) -> list[str]:
    words: list[str] = []
    for field, flag in table.items():
        match getattr(request, field):
            case str() as text if text.strip():
                name = f"{flag}-{_reached_by(text)}" if request.kind == "map" and field == "contact" else flag
                words.append(f"{name}={text.strip()}")
            case tuple() as texts:
                words += [f"{flag}={text}" for text in texts if text.strip()]
            case True:
                words.append(flag)
    return words


def _reached_by(contact: str) -> str:
    return "url" if "://" in contact else "email"


def plan_command(request: JobRequest) -> list[str]:
    if request.kind == "map":
        raise UsageError("a plan is of one site: a map is bounded by its requests to each domain")
    of_mirror = FLAGS["mirror"]
    named = _PLANNED_OF_CRAWL if request.kind == "crawl" else of_mirror.keys() - _RENDER.keys()
    flags = _flags(request, {field: flag for field, flag in of_mirror.items() if field in named})
    return ["plan", *flags, "--", *request.url.split()[:1]]


def again_command(job: Job, role: str, saved: dict[str, Any] | None, *, update: bool) -> list[str]:
    """The command that goes on with a job, or brings it up to date: of a crawl or a map by its configuration;
    of a mirror the last one that was given here, or one made of what the job has saved."""
    match job.kind:
        case JobKind.CAPTURE:
            return ["capture", "resume", job.name, "--captures", str(job.root)]
        case JobKind.CRAWL:
            commands = {
                "crawler": ("crawl", "run"),
                "scraper": ("scrape", "run"),
                "unified": ("run", "--unified"),
            }
            again = ["--again"] if update and role != "scraper" else []
            return [*commands[role], *again, "--config", str(configuration(job))]
        case JobKind.MAP:
            return ["map", *["--update"] * update, "--", str(configuration(job))]
    last = log_of(job).command()
    words = (
        [word for word in last if word not in ("--update", "--fresh")] if last else _from_saved(job, saved)
    )
    return [words[0], "--update", *words[1:]] if update else words


def configuration(job: Job) -> Path:
    from sumi.inspection.configuration import configuration_of  # it loads the readers of TOML and YAML

    found = configuration_of(job)
    if found is None:
        raise UsageError(
            f"the configuration of {job.name} is neither in {job.home} nor above it: "
            "run its command again in a terminal"
        )
    return found


def _from_saved(job: Job, saved: dict[str, Any] | None) -> list[str]:
    kept = saved or {}
    words = ["mirror", "--output", str(job.root)]
    named = ("max_pages", "max_depth", "contact", "user_agent", "robots_on_error", "min_fidelity")
    given = [name for name in named if kept.get(name) not in (None, "", 0)]
    words += [f"--{name.replace('_', '-')}={kept[name]}" for name in given]
    for name in ("include", "exclude", "hosts"):
        words += [f"--{name}={pattern}" for pattern in kept.get(name) or ()]
    for name in ("follow_links", "loose_paths", "rewrite_links", "assets"):
        words += [f"--{name.replace('_', '-')}"] * bool(kept.get(name))
    if kept.get("respect_robots") is False:
        words.append("--no-respect-robots")
    return [*words, "--", str(kept.get("url") or job.target)]


def as_typed(words: Sequence[str]) -> str:
    return shlex.join(["sumi", *words])


def as_process(words: Sequence[str], *, json: bool = True) -> list[str]:
    split = list(words).index("--") if "--" in words else len(words)
    return [sys.executable, "-m", "sumi", *words[:split], *["--json"] * json, *words[split:]]


def log_place(words: Sequence[str]) -> tuple[Path, str]:
    """Where the events of a new job go: a mirror is known by its host, a capture only once it has begun."""
    match words[0]:
        case "mirror":
            return Path(_after(words, "--output")), host_folder(_after(words, "--"))
        case "capture":
            return Path(_after(words, "--captures")), CAPTURE_LOG
        case "run":
            return Path(_after(words, "--workspace")), _CRAWL_STATE
        case _:
            return Path(_after(words, "--output")), _MAP_DATABASE


def _after(words: Sequence[str], flag: str) -> str:
    return words[words.index(flag) + 1]
