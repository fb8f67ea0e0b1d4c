"""The settings of a capture: its own, and those that it shares with a mirror, some with other defaults."""

from collections.abc import Mapping
from typing import Final

import msgspec

from sumi.errors import UsageError
from sumi.policy import Preset
from sumi.settings.kinds import FOLDER, SWITCH, URL, decimal, many, split_userinfo, whole
from sumi.settings.mirror import MirrorSettings
from sumi.settings.setting import OUTPUT, PACE, TAKE, Setting
from sumi.settings.sources import Given, gathered
from sumi.settings.table import SETTINGS
from sumi.urls import normalize

DEFAULT_WORKERS: Final = 5
MOST_WORKERS: Final = 10
MOST_EXTERNAL_HOPS: Final = 5
_ANY: Final = 1_000_000_000

OWN: Final = (
    Setting("url", many(URL), TAKE, "The base URLs: what lies under their paths is taken."),
    Setting(
        "limit",
        whole(-_ANY, _ANY, "pages"),
        TAKE,
        "Pages of their own text for each base URL; 0 for no limit.",
        "pages",
        otherwise="0",
    ),
    Setting(
        "external-hops",
        whole(-_ANY, _ANY, "links"),
        TAKE,
        f"Follow links that lead out of the base URLs, so many in a row; at most {MOST_EXTERNAL_HOPS}, "
        "0 for none.",
        "links",
        otherwise="0",
    ),
    Setting(
        "workers",
        whole(-_ANY, _ANY, "pages"),
        PACE,
        f"Pages at once, 1 to {MOST_WORKERS}; a number beyond counts as the nearest of them.",
        "pages",
        otherwise=str(DEFAULT_WORKERS),
    ),
    Setting("store", FOLDER, OUTPUT, "The folder that captures are kept in.", otherwise="captures"),
    Setting(
        "skip-cache",
        SWITCH,
        OUTPUT,
        "Fetch every page anew, whatever earlier captures have.",
        otherwise="off",
    ),
    Setting(
        "cache-age",
        decimal(0, 1e9, "seconds"),
        OUTPUT,
        "Use a page of an earlier capture without asking the server for so long, unless that wants to be "
        "asked every time.",
        "seconds",
        otherwise="as long as the server says, and at most a day",
    ),
)

# What decides how a capture behaves on the network, and may be given again to go on with it.
CONNECTION: Final = (
    "rate-limit", "max-requests-per-host", "respect-robots", "robots-on-error", "user-agent", "contact",
    "retries", "cookies", "auth", "header", "header-for", "proxy", "trust-proxy-dns", "allow-private",
    "resolve", "ca-file", "browser", "render-tabs", "render-timeout", "render-memory", "timeout",
    "connect-timeout", "first-byte-timeout", "idle-timeout", "min-speed", "max-wire", "parse-cpu",
    "parse-memory", "html-depth", "html-nodes", "max-body", "max-ratio", "max-codings", "max-header-bytes",
    "max-header-fields", "max-redirects", "max-url-length", "max-links", "max-retry-after",
    "max-crawl-delay", "durability", "min-free", "processes",
)  # fmt: skip
# What decides which pages a capture has and how they are read; part of a job for good.
CONTENT: Final = (
    "loose-paths", "include", "exclude", "trap-pages", "trap-segments", "trap-repeats", "trap-parameters",
    "trap-hops", "render", "wait-for", "raw",
)  # fmt: skip
# Half a second between requests to a host, half a minute for one of them, and no second try: what failed is
# listed, and tried again when the job is taken up again.
DEFAULTS: Final[Mapping[str, object]] = {"rate_limit": 2.0, "timeout": 30.0, "retries": 0}
# Never written down: who goes on with a job gives them again.
SECRET: Final = ("auth", "header", "header_for", "proxy")

_SHARED = tuple(
    setting._replace(otherwise=f"{DEFAULTS[setting.field]:g}") if setting.field in DEFAULTS else setting
    for setting in SETTINGS
    if setting.name in CONNECTION + CONTENT
)
CAPTURE_SETTINGS: Final = OWN + _SHARED
RESUME_SETTINGS: Final = tuple(
    setting for setting in CAPTURE_SETTINGS if setting.name in (*CONNECTION, "store", "workers")
)
_OWN_FIELDS = frozenset(setting.field for setting in OWN)


class CaptureSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a user decides about a capture. Numbers beyond their bounds count as the nearest bound."""

    urls: tuple[str, ...]
    store: str = "captures"
    limit: int = 0  # pages for each base URL; 0 = no limit
    external_hops: int = 0
    workers: int = DEFAULT_WORKERS
    skip_cache: bool = False
    cache_age: float | None = None  # seconds; None: as the server says, and at most a day
    connection: MirrorSettings  # everything that is the same for a mirror; its URL is the first of ours

    def __post_init__(self) -> None:
        workers = min(max(self.workers, 1), MOST_WORKERS) if self.workers else DEFAULT_WORKERS
        msgspec.structs.force_setattr(self, "workers", workers)
        msgspec.structs.force_setattr(self, "limit", max(self.limit, 0))
        hops = min(max(self.external_hops, 0), MOST_EXTERNAL_HOPS)
        msgspec.structs.force_setattr(self, "external_hops", hops)


def load_capture_settings(
    flags: Mapping[str, Given], environ: Mapping[str, str], config: str | None = None
) -> CaptureSettings:
    """As ``load_settings`` does for a mirror; the section of the file is [capture]."""
    return capture_settings(gathered(flags, environ, config, CAPTURE_SETTINGS, "capture"))


def resumed_settings(stored: str, flags: Mapping[str, Given], environ: Mapping[str, str]) -> CaptureSettings:
    """As a job was begun, with what is given anew: secrets, which are not stored, and manners."""
    values: dict[str, object] = msgspec.json.decode(stored)
    given = {name: text for name, text in environ.items() if name in _SECRET_VARIABLES}
    return capture_settings(values | gathered(flags, given, None, RESUME_SETTINGS, "capture"))


def capture_settings(values: Mapping[str, object]) -> CaptureSettings:
    """From values by field, which may come from a program too; raises UsageError."""
    bases = _bases(values.get("url", ()))
    own = {name: value for name, value in values.items() if name in _OWN_FIELDS and name != "url"}
    shared = {name: value for name, value in values.items() if name not in _OWN_FIELDS}
    try:
        # The first as it was written: a password in it is set aside there.
        connection = msgspec.convert({**DEFAULTS, **shared, "url": bases[0]}, MirrorSettings)
        urls = tuple(dict.fromkeys(filter(None, map(_canonical, bases))))
        return msgspec.convert(own | {"urls": urls, "connection": connection}, CaptureSettings)
    except msgspec.ValidationError as error:
        raise UsageError(f"a setting of the capture cannot be used: {error}") from None


def storable(settings: CaptureSettings) -> str:
    """All that a later process needs to go on, but nothing secret."""
    own = {name: getattr(settings, name) for name in _OWN_FIELDS - {"url", "store"}}
    shared = {
        setting.field: getattr(settings.connection, setting.field)
        for setting in _SHARED
        if setting.field not in SECRET
    }
    return msgspec.json.encode(shared | own | {"url": settings.urls}).decode()


_SECRET_VARIABLES = frozenset(setting.variable for setting in _SHARED if setting.field in SECRET)


def _bases(given: object) -> list[str]:
    bases = [given] if isinstance(given, str) else list(given) if isinstance(given, list | tuple) else []
    if not bases:
        raise UsageError("no URL given; as an example: sumi capture https://docs.example.org/guide")
    for base in bases:
        if not isinstance(base, str) or _canonical(base) is None:
            raise UsageError(f"{base!r} is not an http or https URL, such as https://docs.example.org/guide")
    return bases


def _canonical(base: str) -> str | None:
    """Without a password, and as pages are told apart."""
    return normalize(split_userinfo(base)[0], Preset.CAPTURE)
