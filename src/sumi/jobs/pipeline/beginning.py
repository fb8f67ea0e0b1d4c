"""A crawl that begins without a file: its seeds and a few options make the file and the list of seeds."""

import os.path
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sumi import __version__
from sumi.errors import UsageError
from sumi.jobs.pipeline.config import CRAWL_SETTINGS
from sumi.settings.config_text import yaml_text
from sumi.settings.kinds import CONTACT, URL, parsed
from sumi.settings.setting import Setting
from sumi.settings.shared import HOME_PAGE
from sumi.urls import split

if TYPE_CHECKING:
    from sumi.jobs.pipeline.config import CrawlConfig

FILE: Final = "crawl.yaml"
SEEDS: Final = "seeds.txt"
_GITHUB: Final = "github.com"
# By these names the settings of the file are options of the command.
AS_OPTIONS: Final = {
    "scope.max_depth": "max-depth",
    "scope.allow_patterns": "allow-pattern",
    "scope.deny_patterns": "deny-pattern",
    "caps.max_pages": "max-pages",
    "limits.req_per_sec": "rate-limit",
    "network.allow_private": "allow-private",
    "network.resolve": "resolve",
    "render.mode": "render",
}
_USUAL: Final = (
    *AS_OPTIONS,
    *("workspace", "profile", "mode", "robots.respect", "robots.on_error", "scope.allowed_hosts"),
    *("scope.keep_query", "limits.global_concurrency", "store.compress", "pages_csv.path"),
)
_HEAD: Final = """\
A crawl by policy. Run it: sumi run --config {file}
Lines that begin with # are what applies without them. The seeds are in seeds.txt, in the workspace."""


def option_settings() -> tuple[Setting, ...]:
    return tuple(
        setting._replace(name=AS_OPTIONS[setting.path], section="")
        for setting in CRAWL_SETTINGS
        if setting.path in AS_OPTIONS
    )


def seeds_of(urls: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(parsed(URL, url, "URL")) for url in urls))


def crawl_text(seeds: Sequence[str], options: Mapping[str, Any], file: str, workspace: str) -> str:
    """The file of a crawl from ``seeds``, within their hosts; ``options`` by path, and ``contact``."""
    values = {path: value for path, value in options.items() if path != "contact"}
    hosts = tuple(dict.fromkeys(split(seed).host for seed in seeds))
    values["workspace"] = workspace
    values["user_agent"] = _agent(options.get("contact"))
    values["profile"] = "github" if hosts == (_GITHUB,) else "generic"
    if values["profile"] == "generic" and hosts:
        values.setdefault("scope.allowed_hosts", hosts)
    return yaml_text(_HEAD.format(file=file), CRAWL_SETTINGS, values, _USUAL)


def _agent(contact: object) -> str:
    if contact is None:
        return f"sumi/{__version__} (+{HOME_PAGE})"
    text = str(parsed(CONTACT, str(contact), "--contact"))
    reach = f"+{text}" if text.startswith("http") else f"+{HOME_PAGE}; {text}"
    return f"sumi/{__version__} ({reach})"


def begin(folder: str, urls: Sequence[str], options: Mapping[str, Any]) -> Path:
    """The file of the crawl in the workspace ``folder``, made with its seeds unless it is there and says the
    same."""
    place = Path(folder)
    path, seeds = place / FILE, seeds_of(urls)
    text, listed = crawl_text(seeds, options, str(path), "."), "".join(f"{seed}\n" for seed in seeds)
    if path.exists():
        if (path.read_text(encoding="utf-8"), _text_of(place / SEEDS)) != (text, listed):
            raise UsageError(
                f"{path} describes another crawl, or was edited: continue it with --config {path}, or choose "
                "another folder with --workspace"
            )
        return path
    write(path, text, listed)
    return path


def write(path: Path, text: str, seeds: str) -> "CrawlConfig":
    """The file ``path`` and, in the workspace that it names, the folders and the seeds, unless they exist."""
    from sumi.jobs.pipeline.config_file import load_crawl_config
    from sumi.jobs.pipeline.workspace import configure, default_layout, layout_of

    home = Path(os.path.abspath(path.parent))
    if path.name == FILE and text_names_own_folder(text):
        configure(home, default_layout(home).owned, {FILE: text, SEEDS: seeds})
        return load_crawl_config(path)
    path.write_text(text, encoding="utf-8")
    config = load_crawl_config(path)
    configure(config.workspace, layout_of(config).owned, {SEEDS: seeds})
    return config


def text_names_own_folder(text: str) -> bool:
    return '\nworkspace: "."\n' in text


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
