"""A map that begins without a file: its domains and a few options make the file, which the run then uses."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from sumi import __version__
from sumi.errors import UsageError
from sumi.jobs.map.config import map_table
from sumi.settings.config_text import toml_text
from sumi.settings.setting import Setting
from sumi.urls import split

FILE: Final = "map.toml"
DEFAULT_FOLDER: Final = "map"
# By these names the settings of the file are options of the command.
AS_OPTIONS: Final = (
    *("crawler.max-depth", "crawler.max-domain-requests", "crawler.minimum-time-on-page"),
    *(
        "user-agent.contact-url",
        "user-agent.contact-email",
        "http.allow-http",
        "http.ca-file",
        "http.resolve",
    ),
    *("content.keep", "render.mode"),
)
_USUAL: Final = (
    *AS_OPTIONS,
    "crawler.max-concurrent-pages-open",
    "user-agent.crawler-name",
    "robots.on-error",
)
_HEAD: Final = """\
A map of the web around chosen domains. Run it: sumi map {file}
Lines that begin with # are what applies without them. Paths start at this file's folder."""


_NAMED: Final = {"render.mode": "render", "content.keep": "keep-pages"}


def option_fields() -> dict[str, str]:
    """The field of each option, by the path of its setting."""
    return {path: _NAMED.get(path, path.partition(".")[2]).replace("-", "_") for path in AS_OPTIONS}


def option_settings() -> tuple[Setting, ...]:
    """As options have them: without sections, whose names would be in the way."""
    return tuple(
        setting._replace(name=_NAMED.get(setting.path, setting.name), section="")
        for setting in map_table(allow_http=True)
        if setting.path in AS_OPTIONS
    )


def map_text(domains: Sequence[str], options: dict[str, Any], file: str) -> str:
    """The file of a map around ``domains``, which may be names or addresses; ``options`` by path."""
    values = dict(options)
    seeds: dict[str, dict[str, None]] = {}
    for domain, seed in map(_entry, domains):
        seeds.setdefault(domain, {})[seed] = None
    values["quality"] = [{"domain": domain, "seeds": list(found)} for domain, found in seeds.items()]
    if any(seed.startswith("http://") for found in seeds.values() for seed in found):
        values.setdefault("http.allow-http", True)
    values.setdefault("user-agent.crawler-name", "sumi")
    values.setdefault("user-agent.crawler-version", __version__)
    for name in ("blacklist", "stub"):
        values[name] = [{"domain": domain} for domain in values.get(name, ())]
    return toml_text(_HEAD.format(file=file), map_table(allow_http=True), values, _USUAL)


def _entry(text: str) -> tuple[str, str]:
    """The domain and a seed, of ``a.org``, ``*.a.org`` or an address, whose host is the domain."""
    if "://" in text:
        host = split(text).host
        if not host or not text.lower().startswith(("http://", "https://")):
            raise UsageError(f"{text} is no domain, nor an http or https address, nor a .toml file")
        return host.removeprefix("www."), text if split(text).path else f"{text}/"
    name = text.removeprefix("*.")
    if not name or "/" in name or "." not in name:
        raise UsageError(
            f"{text!r} is no domain such as example.org, no address and no existing .toml file; for a file, "
            "check its name"
        )
    return text, f"https://{name}/"


def begin(folder: Path, text: str) -> Path:
    """The file of the map in ``folder``, made unless it is there and says the same."""
    path = folder / FILE
    if path.exists():
        if path.read_text(encoding="utf-8") != text:
            raise UsageError(
                f"{path} describes another map, or was edited: continue it with sumi map {path}, or choose "
                "another folder with --output"
            )
        return path
    from sumi.state.lock import make_folders

    make_folders(folder)
    path.write_text(text, encoding="utf-8")
    return path
