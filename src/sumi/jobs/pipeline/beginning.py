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
_MOST_HOSTS: Final = 1000  # in the file; a list of more sites is not held to them
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


class Beginning:
    """``options`` by the path of their setting, and ``contact``. ``listed``: pages of the user's lists; with
    nothing else, no link is followed unless the user says how far."""

    def __init__(self, urls: Sequence[str], listed: Sequence[str], options: Mapping[str, Any]) -> None:
        given = (str(parsed(URL, url, "URL")) for url in urls)
        self._urls = tuple(dict.fromkeys((*given, *listed)))
        self._is_list = bool(listed)
        self._options = options if urls else {"scope.max_depth": 0, **options}

    @property
    def seeds(self) -> str:
        return "".join(f"{url}\n" for url in self._urls)

    def config(self, file: str, workspace: str) -> str:
        """The file of the crawl, within the hosts of its seeds."""
        values = {path: value for path, value in self._options.items() if path != "contact"}
        hosts = tuple(dict.fromkeys(split(url).host for url in self._urls))
        values["workspace"] = workspace
        values["user_agent"] = _agent(self._options.get("contact"))
        values["profile"] = "github" if hosts == (_GITHUB,) and not self._is_list else "generic"
        if values["profile"] == "generic" and len(hosts) <= _MOST_HOSTS:
            values.setdefault("scope.allowed_hosts", hosts)
        return yaml_text(_HEAD.format(file=file), CRAWL_SETTINGS, values, _USUAL)


def _agent(contact: object) -> str:
    if contact is None:
        return f"sumi/{__version__} (+{HOME_PAGE})"
    text = str(parsed(CONTACT, str(contact), "--contact"))
    reach = f"+{text}" if text.startswith("http") else f"+{HOME_PAGE}; {text}"
    return f"sumi/{__version__} ({reach})"


def begin(folder: str, beginning: Beginning) -> Path:
    """The file of the crawl in the workspace ``folder``, made with its seeds unless it is there and says the
    same."""
    place = Path(folder)
    path = place / FILE
    text = beginning.config(str(path), ".")
    if path.exists():
        if (path.read_text(encoding="utf-8"), _text_of(place / SEEDS)) != (text, beginning.seeds):
            raise UsageError(
                f"{path} describes another crawl, or was edited: continue it with --config {path}, or choose "
                "another folder with --workspace"
            )
        return path
    write(path, text, beginning.seeds)
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
