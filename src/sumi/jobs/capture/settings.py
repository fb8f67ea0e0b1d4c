"""The settings of a capture: its own, and those it shares with mirrors, some with other defaults."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import unquote

import msgspec

from sumi.errors import UsageError
from sumi.policy import Preset, is_database
from sumi.settings.kinds import (
    FOLDER,
    JOB_NAME,
    STATE,
    SWITCH,
    URL,
    Kind,
    decimal,
    many,
    split_userinfo,
    whole,
)
from sumi.settings.kinds import STORE as OBJECT_STORE
from sumi.settings.operating import OPERATING
from sumi.settings.setting import OUTPUT, PACE, TAKE, Setting, grouped, with_defaults
from sumi.settings.shared import SEEN_MEMORY, SHARED, SharedSettings
from sumi.settings.sources import SECRET, Given, from_keywords, gathered
from sumi.urls import PRESETS, Spelled, origin, spelled

DEFAULT_WORKERS: Final = 5
MOST_WORKERS: Final = 10
MOST_EXTERNAL_HOPS: Final = 5
_ANY: Final = 1_000_000_000

DEFAULT_STORE: Final = "captures"


class CaptureSettings(SharedSettings, frozen=True, kw_only=True):
    """Everything a user decides about a capture. Numbers out of bounds count as the nearest bound."""

    urls: tuple[str, ...]
    written: tuple[str, ...] = ()  # the same URLs as the user wrote them, which is how they are requested
    store: str = DEFAULT_STORE  # the folder of the captures
    captures: str | None = None  # the same, by a name that is no object store's
    state: str | None = None  # the address of a database, for a capture of many machines
    job: str | None = None  # its name there
    seen_memory: int | None = None
    contents: str | None = None  # the address of an object store, where such a capture keeps its pages
    limit: int = 0  # pages for each base URL; 0 = no limit
    external_hops: int = 0
    workers: int = DEFAULT_WORKERS
    skip_cache: bool = False
    cache_age: float | None = None  # seconds; None: as the server allows, at most a day
    # Half a second between requests to a host, half a minute per request, no retries: failures are listed,
    # and tried again when the job is resumed.
    rate_limit: float = 2.0
    timeout: float = 30.0
    retries: int = 0
    # Passwords in base URLs, as (origin, user:password): each is sent to its own origin only.
    passwords: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        workers = min(max(self.workers, 1), MOST_WORKERS) if self.workers else DEFAULT_WORKERS
        msgspec.structs.force_setattr(self, "workers", workers)
        msgspec.structs.force_setattr(self, "limit", max(self.limit, 0))
        hops = min(max(self.external_hops, 0), MOST_EXTERNAL_HOPS)
        msgspec.structs.force_setattr(self, "external_hops", hops)
        if self.captures is not None:
            msgspec.structs.force_setattr(self, "store", self.captures)
            msgspec.structs.force_setattr(self, "captures", None)

    @property
    def is_shared(self) -> bool:
        return self.state is not None


def _parse_place(text: str) -> str:
    return str((OBJECT_STORE if "://" in text else FOLDER).parse(text))


def _parse_database(text: str) -> str:
    if not is_database(text):
        raise ValueError(text)
    return str(STATE.parse(text))


_PLACE: Final = Kind("s3://BUCKET/PREFIX, file:///FOLDER or a folder", _parse_place, "URL|DIR")
_DATABASE: Final = Kind(
    "the address of a database, such as postgresql://db.example.org/sumi",
    _parse_database,
    "postgresql://HOST/DATABASE",
)
FOLDER_OF_CAPTURES: Final = Setting(
    "captures", FOLDER, "Folder of the captures.", group=OUTPUT, otherwise=DEFAULT_STORE
)
# Before captures could be in an object store, this was the folder.
STORE: Final = Setting(
    "store",
    _PLACE,
    "With --state, the S3-compatible store for the pages: s3://BUCKET/PREFIX or file:///FOLDER. A plain "
    "folder is that of the captures, as with --captures.",
    group=OUTPUT,
    default=DEFAULT_STORE,
)
WHERE: Final = (FOLDER_OF_CAPTURES, STORE)
OWN: Final = (
    *grouped(
        TAKE,
        Setting("url", many(URL), "Base URLs: the pages under their paths are captured."),
        Setting(
            "limit",
            whole(-_ANY, _ANY, "pages"),
            "Pages with distinct text per base URL; 0 for no limit.",
            "pages",
        ),
        Setting(
            "external-hops",
            whole(-_ANY, _ANY, "links"),
            "How many links in a row to follow out of the base URLs; "
            f"at most {MOST_EXTERNAL_HOPS}, 0 for none.",
            "links",
        ),
    ),
    *grouped(
        PACE,
        Setting(
            "workers",
            whole(-_ANY, _ANY, "pages"),
            f"Concurrent pages, 1 to {MOST_WORKERS}; other numbers count as the nearest of these.",
            "pages",
        ),
    ),
    *grouped(
        OUTPUT,
        *WHERE,
        Setting(
            "state",
            _DATABASE,
            "Keep the capture in this database, where other machines share it by sumi worker; its pages are "
            "in --store.",
            otherwise="files in the folder of the captures",
        ),
        Setting(
            "job",
            JOB_NAME,
            "With --state, the name of the capture in the database.",
            otherwise="its id",
        ),
        SEEN_MEMORY,
        Setting(
            "skip-cache",
            SWITCH,
            "Fetch every page, even if earlier captures have it.",
        ),
        Setting(
            "cache-age",
            decimal(0, 1e9, "seconds"),
            "How long to use a page of an earlier capture without asking the server, unless the server wants "
            "to be asked every time.",
            "seconds",
            otherwise="as long as the server allows, at most a day",
        ),
    ),
)

# Shared settings whose help differs from that of a mirror.
HELP: Final[Mapping[str, str]] = {
    "auth": "Basic authentication for the scheme, host and port of the base URLs only; refused if they have "
    "several: then write each password into its URL. Prefer the environment variable to the flag: other "
    "users of the machine can see flags.",
    "header": "An extra header for the scheme, host and port of the base URLs only; refused if they "
    "have several: then use --header-for. Repeatable.",
    "header_for": "An extra header for one site among several base URLs, or another site that the job "
    "covers. Repeatable.",
    "raw": "Keep the original pages, compressed, so that later captures need not fetch them again.",
}


CAPTURE_SETTINGS: Final = with_defaults(
    (
        *OWN,
        *(setting._replace(help=HELP.get(setting.field, setting.help)) for setting in SHARED),
    ),
    CaptureSettings,
)
# Settings that decide which pages a capture has and how they are read: they cannot be changed on resume.
_FIXED: Final = frozenset(
    {
        "url", "limit", "external-hops", "skip-cache", "cache-age", "loose-paths", "include", "exclude",
        "trap-pages", "trap-segments", "trap-repeats", "trap-parameters", "trap-hops", "render", "wait-for",
        "raw", "replay-unlinked", "urls-from", "urls-column", "state", "job", "seen-memory",
    }
)  # fmt: skip
RESUME_SETTINGS: Final = tuple(setting for setting in CAPTURE_SETTINGS if setting.name not in _FIXED)


# Never stored with the job.
_OF_ONE_RUN: Final = (*SECRET, *(setting.field for setting in OPERATING))


def load_capture_settings(
    flags: Mapping[str, Given], environ: Mapping[str, str], config: str | None = None
) -> CaptureSettings:
    """From flags, environment and the [capture] section of a TOML file."""
    return capture_settings(gathered(flags, environ, config, CAPTURE_SETTINGS, "capture"))


def store_given(flags: Mapping[str, Given], environ: Mapping[str, str]) -> str:
    given = gathered(flags, environ, None, WHERE, "capture")
    folder = str(given.get("captures") or given.get("store", DEFAULT_STORE))
    if "://" in folder:
        raise UsageError(f"{folder} is a store for pages; the folder of the captures is given by --captures")
    return folder


def resumed_settings(stored: str, flags: Mapping[str, Given], environ: Mapping[str, str]) -> CaptureSettings:
    """The settings of a stored job, with those given for this run: secrets are not stored, and pace may
    change."""
    values: dict[str, object] = msgspec.json.decode(stored)
    given = {name: text for name, text in environ.items() if name in _RESUME_VARIABLES}
    return capture_settings(values | gathered(flags, given, None, RESUME_SETTINGS, "capture"))


def keyword_settings(urls: str | Sequence[str], settings: Mapping[str, object]) -> CaptureSettings:
    """From keyword arguments. Raises UsageError for unknown names and unusable values."""
    bases = [urls] if isinstance(urls, str) else list(urls)
    return capture_settings(from_keywords({"url": bases, **settings}, CAPTURE_SETTINGS, "capture"))


def resumed_keyword_settings(stored: str, settings: Mapping[str, object]) -> CaptureSettings:
    """The settings of a stored job, with those given as keyword arguments."""
    values: dict[str, object] = msgspec.json.decode(stored)
    return capture_settings(values | from_keywords(settings, RESUME_SETTINGS, "capture that is resumed"))


def capture_settings(values: Mapping[str, object]) -> CaptureSettings:
    """From values by field, each already checked; raises UsageError for combinations that do not work."""
    bases = _bases(values.get("url") or (_sites_listed(values) if values.get("urls_from") else ()))
    written: dict[str, str] = {}
    for base in filter(None, map(_spelled, bases)):
        written.setdefault(base.identity, base.target)
    given = {**values, "urls": tuple(written), "written": tuple(written.values())}
    if "://" in str(given.get("store", "")):
        given["contents"] = given.pop("store")
    try:
        settings = msgspec.convert(given, CaptureSettings)
    except msgspec.ValidationError as error:
        raise UsageError(f"a setting of the capture is not valid: {error}") from None
    settings = msgspec.structs.replace(settings, passwords=_passwords(bases, settings))
    _refuse_halves(settings)
    return settings


def _refuse_halves(settings: CaptureSettings) -> None:
    """What a capture in a database needs, and what only it can have."""
    if not settings.is_shared:
        if settings.contents is not None:
            raise UsageError(
                f"--store {settings.contents} is for a capture in a database: give --state "
                "postgresql://HOST/DATABASE, too; the folder of the captures is given by --captures"
            )
        if settings.job is not None:
            raise UsageError("--job names a capture in a database: give its address by --state")
        if settings.seen_memory is not None:
            raise UsageError("--seen-memory is for a capture in a database: give its address by --state")
    elif settings.passwords:
        raise UsageError("a capture in a database takes passwords by SUMI_AUTH, not from base URLs")
    elif settings.limit and len(settings.urls) > 1:
        raise UsageError(
            "--limit counts the pages of each base URL on one machine: capture them separately, or leave "
            "out --state"
        )


def _passwords(bases: Sequence[str], settings: CaptureSettings) -> tuple[tuple[str, str], ...]:
    """The passwords in base URLs, by origin."""
    origins = dict.fromkeys(origin(_canonical(base) or base) for base in bases)
    _refuse_for_several(tuple(origins), settings)
    found: dict[str, str] = {}
    for base in bases:
        userinfo = split_userinfo(base)[1]
        if not userinfo:
            continue
        user, _, password = userinfo.partition(":")
        site, secret = origin(_canonical(base) or base), f"{unquote(user)}:{unquote(password)}"
        if found.setdefault(site, secret) != secret:
            raise UsageError(f"two base URLs have different passwords for {site}: capture them separately")
    return () if settings.auth else tuple(found.items())  # --auth wins, as for a mirror


def _refuse_for_several(origins: Sequence[str], settings: CaptureSettings) -> None:
    """A secret of one site must not be sent to another one just because both are captured in one job."""
    if len(origins) < 2:
        return
    sites = ", ".join(origins)
    if settings.auth:
        raise UsageError(
            f"--auth is for one site, and the base URLs have several ({sites}): write the password into its "
            "URL, as in https://user:password@docs.example.org, or give it with --header-for"
        )
    if settings.header:
        raise UsageError(
            f"--header is for one site, and the base URLs have several ({sites}): "
            "use --header-for 'SITE HEADER' instead, once per site"
        )


def storable(settings: CaptureSettings) -> str:
    """All that a later process needs to resume the job, without secrets."""
    kept = {
        setting.field: getattr(settings, setting.field)
        for setting in CAPTURE_SETTINGS
        if setting.field not in (*_OF_ONE_RUN, "url", "store", "captures")
    }
    return msgspec.json.encode(kept | {"url": settings.written}).decode()


# On resume, the environment only supplies what is not stored with the job.
_RESUME_VARIABLES = frozenset(
    setting.variable for setting in RESUME_SETTINGS if setting in WHERE or setting.field in _OF_ONE_RUN
)


def _sites_listed(values: Mapping[str, object]) -> list[str]:
    from sumi.assembly.more_pages import sites_of, url_lists

    given = msgspec.convert({**values, "urls": ()}, CaptureSettings)
    return sites_of(url_lists(given.urls_from, given.urls_column))


def _bases(given: object) -> list[str]:
    bases = [given] if isinstance(given, str) else list(given) if isinstance(given, list | tuple) else []
    if not bases:
        raise UsageError("no URL given; for example: sumi capture https://docs.example.org/guide")
    for base in bases:
        if not isinstance(base, str) or _canonical(base) is None:
            raise UsageError(
                "a base URL must be an http or https URL, such as https://docs.example.org/guide"
            )
    return bases


def _canonical(base: str) -> str | None:
    """The identity of a base URL, without its password."""
    found = _spelled(base)
    return None if found is None else found.identity


def _spelled(base: str) -> Spelled | None:
    return spelled(split_userinfo(base)[0], PRESETS[Preset.CAPTURE])
