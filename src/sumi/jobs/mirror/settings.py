"""The settings of a mirror: its own, those shared with captures, and the part that is saved in its state."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

import msgspec

from sumi.catalogue.role import MIRROR_SETTINGS
from sumi.console.next_steps import typed_options
from sumi.errors import UsageError
from sumi.policy import Layout, OnError, Revisit, SourceChoice
from sumi.settings.kinds import (
    DURATION,
    FIDELITY,
    FOLDER,
    GIB,
    HOST_PATTERN,
    JOB_NAME,
    KIB,
    MIB,
    RATE,
    STATE,
    STORE,
    SWITCH,
    URL,
    choice,
    many,
    size,
    split_userinfo,
    whole,
)
from sumi.settings.setting import (
    NETWORK,
    OPERATING,
    OUTPUT,
    PACE,
    RENDERING,
    TAKE,
    Setting,
    grouped,
    with_defaults,
)
from sumi.settings.shared import SEEN_MEMORY, SHARED, SharedSettings
from sumi.settings.sources import SECRET, Given, from_keywords, gathered

if TYPE_CHECKING:  # ports load asyncio, which --help does not need
    from sumi.ports import Ledger


class MirrorSettings(SharedSettings, frozen=True, kw_only=True):
    """Everything a user decides about a mirror. None: derived by a property."""

    url: str
    output: str = "output"
    fresh: bool = False
    update: bool = False
    trust_lastmod: bool = True
    revisit: Revisit = Revisit.ALL
    revisit_min: float = 12 * 3600.0
    revisit_max: float = 30 * 86_400.0
    rewrite_links: bool = False
    layout: Layout | None = None
    state: str | None = None  # a StateBackend, or the address of a database
    job: str | None = None  # its name there
    seen_memory: int | None = None
    store: str | None = None
    follow_links: bool = False
    hosts: tuple[str, ...] = ()
    max_pages: int = 10_000
    max_depth: int | None = None
    source: SourceChoice = SourceChoice.AUTO
    documents: bool = False
    assets: bool = False
    max_asset_size: int = 20 * MIB
    max_assets_total: int = 1024 * MIB
    content_rate_limit: float | None = None
    concurrency: int = 16
    per_host: int | None = None
    on_error: OnError = OnError.SKIP
    drop_duplicates: bool = False
    min_fidelity: float = 0.0
    max_junk: float = 1.0
    keep_furniture: bool = False
    git: bool = False

    def __post_init__(self) -> None:
        """Move a password from the URL to ``auth``, so that the URL can be shown."""
        url, userinfo = split_userinfo(self.url)
        if userinfo:
            user, _, password = userinfo.partition(":")
            msgspec.structs.force_setattr(self, "url", url)
            if self.auth is None:
                msgspec.structs.force_setattr(self, "auth", f"{unquote(user)}:{unquote(password)}")

    @property
    def page_rate(self) -> float:
        """Pages per second and host; 0 for no limit."""
        return self.rate_limit if self.content_rate_limit is None else self.content_rate_limit

    @property
    def requests_per_host(self) -> int:
        """Concurrent requests; one at a time if there is a rate limit."""
        if self.per_host is not None:
            return self.per_host
        return 1 if self.rate_limit or self.page_rate else self.concurrency


class SiteOfList(MirrorSettings, frozen=True, kw_only=True):
    """One of the sites whose pages are in the lists: the others' pages are none of its business."""


_TAKE: Final = grouped(
    TAKE,
    Setting(
        "url",
        URL,
        "The site, or the part of it under a path.",
    ),
    Setting("follow-links", SWITCH, "Also take linked pages when a sitemap lists the site's pages."),
    Setting(
        "hosts",
        many(HOST_PATTERN),
        "Further hosts that belong to the site; *.example.org takes example.org too. Repeatable.",
    ),
    Setting(
        "max-pages",
        whole(0, 1_000_000_000, "pages"),
        "Stop after this many captured pages; 0 for no limit.",
        "pages",
    ),
    Setting(
        "max-depth",
        whole(0, 10_000, "links"),
        "The most links between the start and a page.",
        "links",
        otherwise="no limit",
    ),
    Setting(
        "source",
        choice(SourceChoice),
        "Make pages from their HTML, or from the site's own Markdown if it is at least as good: auto looks "
        "for it if pages announce it and a sitemap lists them, markdown looks everywhere.",
    ),
    Setting(
        "documents",
        SWITCH,
        "Also make pages of linked PDF, DOCX, ODT and EPUB files (needs sumi[documents]).",
    ),
    Setting(
        "assets",
        SWITCH,
        "Also store the images of pages, from any host, and linked files within the scope, and link to them "
        "locally.",
    ),
    Setting(
        "max-asset-size",
        size(KIB, 4 * GIB),
        "With --assets: skip larger images and files.",
        "bytes",
    ),
    Setting(
        "max-assets-total",
        size(0, 1024 * GIB),
        "With --assets: total size of images and files; skip what exceeds it.",
        "bytes",
    ),
    Setting(
        "drop-duplicates",
        SWITCH,
        "Write only the first of pages with the same title and text; record the others as duplicates.",
    ),
    Setting(
        "min-fidelity",
        FIDELITY,
        "The share of a page that its Markdown must contain. Pages below it are kept and listed, and the run "
        "ends with exit code 9; 0 for no check.",
    ),
    Setting(
        "max-junk",
        FIDELITY,
        "The share of a page's Markdown that may stand on most pages of its site. Pages above it are kept "
        "and listed, and the run ends with exit code 9; 1 for no check.",
    ),
    Setting(
        "keep-furniture",
        SWITCH,
        "Keep what begins or ends nearly every page of a site, instead of taking it off once all pages are "
        "there.",
    ),
)

_NETWORK: Final = grouped(
    NETWORK,
    Setting(
        "on-error",
        choice(OnError),
        "When a page fails: skip it, retry temporary failures once everything else is done, or abort the run "
        "with everything saved.",
    ),
)

_OUTPUT: Final = grouped(
    OUTPUT,
    Setting(
        "output",
        FOLDER,
        "Folder for the Markdown and the state of the run.",
        short="o",
    ),
    Setting("fresh", SWITCH, "Start over instead of resuming the last run."),
    Setting(
        "update",
        SWITCH,
        "Update a finished mirror: fetch and rewrite only what changed; pages that the site removed move to "
        "_gone/.",
    ),
    Setting(
        "trust-lastmod",
        SWITCH,
        "In an update, skip pages whose date in the sitemap has not changed.",
    ),
    Setting(
        "revisit",
        choice(Revisit),
        "In an update, ask for all pages, or adaptively: a page that seldom changed is asked for less often.",
    ),
    Setting(
        "revisit-min",
        DURATION,
        "With --revisit adaptive: do not ask for a page again sooner.",
        otherwise="12h",
    ),
    Setting(
        "revisit-max",
        DURATION,
        "With --revisit adaptive: ask for every page at least this often.",
        otherwise="30d",
    ),
    Setting(
        "rewrite-links",
        SWITCH,
        "At the end, point links between mirrored pages at their files, so that the tree works offline.",
    ),
    Setting(
        "git",
        SWITCH,
        "Keep the mirror in a git repository of its own, with a commit for each run that changed it. A "
        "repository that Sumi did not make is left alone.",
    ),
    Setting(
        "layout",
        choice(Layout),
        "Names of files: for /guide/ink.html folders gives guide/ink/index.md, flat gives guide/ink.md, and "
        "urls guide/ink.html/index.md. A mirror keeps what it was made with.",
        otherwise="folders; a mirror from before there was a choice has urls",
    ),
    Setting(
        "state",
        STATE,
        "Storage of the state: files is readable text and fastest for one site; sqlite and lmdb need little "
        "memory even with millions of URLs; in a PostgreSQL database, many machines share the job.",
        otherwise="the storage it already has; a new mirror starts with files and moves to sqlite at 100,000 "
        "URLs",
    ),
    Setting(
        "job",
        JOB_NAME,
        "With --state postgresql://HOST/DATABASE, the name of the job in the database.",
        otherwise="the host of the site",
    ),
    SEEN_MEMORY,
    Setting(
        "store",
        STORE,
        "Keep pages in an S3-compatible store, or in segments in a folder, instead of in files: "
        "s3://BUCKET/PREFIX or file:///FOLDER. sumi export makes trees of them.",
        otherwise="files",
    ),
)

_PACE: Final = grouped(
    PACE,
    Setting(
        "content-rate-limit",
        RATE,
        "Request rate per host for pages only.",
        "requests/s per host",
        otherwise="the rate limit",
    ),
    Setting("concurrency", whole(1, 1024, "requests"), "Concurrent requests over all hosts.", "requests"),
    Setting(
        "per-host",
        whole(1, 256, "requests"),
        "Concurrent requests to one host.",
        "requests",
        otherwise="1 with a rate limit, else the concurrency",
    ),
)

# Flags, variables, configuration keys and the reference page are made from this table.
SETTINGS: Final = with_defaults((*_TAKE, *_OUTPUT, *SHARED, *_PACE, *_NETWORK), MirrorSettings)

# For sumi plan and sumi sitemap, which do not run unattended, and neither write archives nor read them.
_ARCHIVES: Final = ("warc", "replay", "replay-unlinked")
LOOKING: Final = tuple(one for one in SETTINGS if one.group != OPERATING and one.name not in _ARCHIVES)
# Without effect in sumi plan, which samples pages, and in sumi sitemap, which requests none.
NOT_PLANNED: Final = frozenset(
    {
        *("output", "fresh", "update", "trust-lastmod", "rewrite-links", "state", "job", "store", "history"),
        "seen-memory",
        *("follow-links", "max-depth", "documents", "assets", "max-asset-size", "max-assets-total"),
        *("drop-duplicates", "min-fidelity", "on-error", "min-free", "durability", "git", "urls-from"),
        *("urls-column", "revisit", "revisit-min", "revisit-max"),
    }
)
NOT_LISTED: Final = NOT_PLANNED | {
    *("max-pages", "source", "raw", "content-rate-limit", "processes", "max-links", "html-depth"),
    *("html-nodes", *(one.name for one in LOOKING if one.group == RENDERING)),
}

# The command takes several sites, each the ``url`` of its own settings.
URLS = Setting("urls", many(URL), "Sites, or parts of them under a path, mirrored in turn.", group=TAKE)


def load_settings(
    flags: Mapping[str, Given], environ: Mapping[str, str], config: str | None = None
) -> MirrorSettings:
    """``flags`` are by setting name, as typed. Raises UsageError, or ConfigError for a file's violations."""
    values = gathered(flags, environ, config, SETTINGS, "mirror")
    if "url" not in values:
        raise UsageError("no URL given; give one such as https://docs.example.org")
    return msgspec.convert(values, MirrorSettings)


def load_sites(
    flags: Mapping[str, Given], environ: Mapping[str, str], config: str | None = None
) -> list[MirrorSettings]:
    """As ``load_settings``, for each URL; the other settings are the same for all."""
    values = gathered(flags, environ, config, (URLS, *SETTINGS), "mirror")
    several, one, form = values.pop("urls", ()), values.pop("url", None), MirrorSettings
    if several and one is not None and not flags.get(URLS.name):
        raise UsageError("both url and urls are given; put all of them under urls")
    urls = tuple(several) if isinstance(several, tuple) and several else (one,) if one is not None else ()
    if not urls and values.get("urls_from"):
        urls, form = _sites_listed(values), SiteOfList
    if not urls:
        raise UsageError("no URL given; for example: sumi mirror https://docs.example.org")
    return [msgspec.convert({**values, "url": url}, form) for url in dict.fromkeys(urls)]


def _sites_listed(values: Mapping[str, object]) -> tuple[str, ...]:
    from sumi.assembly.more_pages import sites_of, url_lists

    given = msgspec.convert({**values, "url": ""}, MirrorSettings)
    return tuple(sites_of(url_lists(given.urls_from, given.urls_column)))


# What a written configuration file mentions besides what was given.
_MENTIONED: Final = (
    *("output", "update", "max-pages", "include", "exclude", "hosts", "follow-links", "assets"),
    *("rewrite-links", "min-fidelity", "rate-limit", "contact", "render", "allow-failed", "max-failed"),
    *("max-time", "log-file"),
)
_HEAD: Final = """\
A mirror. Run it: sumi mirror --config {file}
Lines that begin with # are what applies without them; docs/reference/settings.md lists every setting."""


def mirror_text(urls: Sequence[str], values: Mapping[str, object], file: str) -> str:
    """A configuration file: ``values`` by field. Secrets are left out, and belong in the environment."""
    from sumi.settings.config_text import toml_text
    from sumi.settings.kinds import parsed

    table = (URLS, *(setting for setting in SETTINGS if setting.name != "url"))
    known = {setting.field: setting.name for setting in table}
    shown = {known[field]: value for field, value in values.items() if field not in SECRET}
    shown["urls"] = [split_userinfo(str(parsed(URL, url, "URL")))[0] for url in urls]
    return toml_text(_HEAD.format(file=file), table, shown, _MENTIONED, under="mirror")


def given_settings(url: str | MirrorSettings, settings: Mapping[str, object]) -> MirrorSettings:
    """MirrorSettings as given, or from a URL and keywords."""
    if isinstance(url, str):
        return msgspec.convert(from_keywords({"url": url, **settings}, SETTINGS, "mirror"), MirrorSettings)
    if settings:
        raise UsageError(f"{next(iter(settings))} is given beside MirrorSettings: put it into them")
    return url


# Enough to say later which URLs the job would take; never how it connects, nor its credentials.
SAVED: Final = (
    "url",
    "urls_from",  # decides whether links are followed
    "follow_links",
    "include",
    "exclude",
    "hosts",
    "loose_paths",
    "max_depth",
    "max_pages",
    "respect_robots",
    "robots_on_error",
    "user_agent",
    "contact",
    "rewrite_links",
    "documents",
    "assets",
    "max_asset_size",
    "max_assets_total",
    "min_fidelity",  # decides what counts as complete
    "max_junk",
    "keep_furniture",
)


# Not repeated by the command that is shown for a stored mirror: known otherwise, or meant for one run.
_NOT_REPEATED: Final = ("url", "output", "fresh", "update", "max_time")
_COMMAND: Final = "mirror.command"


async def save_settings(ledger: "Ledger", settings: MirrorSettings) -> None:
    """Called at every start and reload; writes only what changed."""
    before = await load_saved_settings(ledger)
    kept = {name: getattr(settings, name) for name in SAVED}
    if before is not None and before.url == settings.url:
        # The largest limit so far: a later, smaller one removes no pages.
        kept["max_pages"] = _larger_cap(before.max_pages, settings.max_pages)
    note = msgspec.json.encode(kept).decode()
    if note != await ledger.get_note(MIRROR_SETTINGS):
        await ledger.put_note(MIRROR_SETTINGS, note)
    # Only ever shown: nothing of how the last run connected is taken from a folder.
    words = msgspec.json.encode(typed_options(settings, SETTINGS, without=_NOT_REPEATED)).decode()
    if words != await ledger.get_note(_COMMAND):
        await ledger.put_note(_COMMAND, words)


async def load_command(ledger: "Ledger") -> list[str]:
    """The options of the last run, as far as they may be shown."""
    note = await ledger.get_note(_COMMAND)
    settings = await load_saved_settings(ledger)
    if note is not None:
        return msgspec.json.decode(note, type=list[str])
    table = [setting for setting in SETTINGS if setting.field in SAVED]  # of an older version
    return [] if settings is None else typed_options(settings, table, without=_NOT_REPEATED)


async def load_saved_settings(ledger: "Ledger") -> MirrorSettings | None:
    """None for the state of an older version or of another job."""
    note = await ledger.get_note(MIRROR_SETTINGS)
    if note is None:
        return None
    try:
        return msgspec.json.decode(note, type=MirrorSettings)
    except msgspec.MsgspecError:
        return None


def _larger_cap(one: int, other: int) -> int:
    return max(one, other) if one and other else 0  # 0: no limit
