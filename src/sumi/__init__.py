"""Sumi: a polite, resumable, fast web crawler. Every command is a function here: docs/guides/python.md.

Each name is loaded from its module when it is first used, so ``import sumi`` and ``sumi --help`` are cheap.
"""

import importlib
from typing import TYPE_CHECKING

__version__ = "0.9.0"

if TYPE_CHECKING:
    from sumi import sync as sync
    from sumi.corpus.change_feeds import Change as Change
    from sumi.corpus.change_log import diff as diff
    from sumi.corpus.change_log import diffs_since as diffs_since
    from sumi.corpus.change_log import feed as feed
    from sumi.corpus.change_log import prune_history as prune_history
    from sumi.corpus.change_log import runs as runs
    from sumi.corpus.change_log import versions as versions
    from sumi.corpus.indexing import Indexed as Indexed
    from sumi.corpus.indexing import index as index
    from sumi.corpus.page_diffs import PageDiff as PageDiff
    from sumi.corpus.reading import PageOutline as PageOutline
    from sumi.corpus.reading import PagePart as PagePart
    from sumi.corpus.reading import outline as outline
    from sumi.corpus.reading import read as read
    from sumi.corpus.searching import Found as Found
    from sumi.corpus.searching import search as search
    from sumi.engine.control import Control as Control
    from sumi.errors import SumiError as SumiError
    from sumi.events import Exported as Exported
    from sumi.events import Summary as Summary
    from sumi.exchange.export import export as export
    from sumi.fetch.identity import create_identity as create_identity
    from sumi.fetch.identity import directory_of as directory_of
    from sumi.fetch.identity import load_identity as load_identity
    from sumi.inspection.explain import Explanation as Explanation
    from sumi.inspection.explain import explain as explain
    from sumi.inspection.state import CheckedJob as CheckedJob
    from sumi.inspection.state import check_state as check_state
    from sumi.inspection.state import migrate_state as migrate_state
    from sumi.inspection.state import repair_state as repair_state
    from sumi.inspection.status import JobStatus as JobStatus
    from sumi.inspection.status import status as status
    from sumi.jobs.capture.archive_import import import_capture as import_capture
    from sumi.jobs.capture.captures import Captures as Captures
    from sumi.jobs.capture.run import Captured as Captured
    from sumi.jobs.capture.run import CaptureRun as CaptureRun
    from sumi.jobs.capture.run import capture as capture
    from sumi.jobs.map.analysis import Analysis as Analysis
    from sumi.jobs.map.analysis import analyze_map as analyze_map
    from sumi.jobs.map.diff import Difference as Difference
    from sumi.jobs.map.diff import diff_map as diff_map
    from sumi.jobs.map.export import export_map as export_map
    from sumi.jobs.map.review import decide_map as decide_map
    from sumi.jobs.map.review import review_map as review_map
    from sumi.jobs.map.run import map as map  # noqa: A004 - as the command is called
    from sumi.jobs.mirror.archive_import import import_archives as import_archives
    from sumi.jobs.mirror.convert import Converted as Converted
    from sumi.jobs.mirror.convert import convert as convert
    from sumi.jobs.mirror.plan import Plan as Plan
    from sumi.jobs.mirror.plan import plan as plan
    from sumi.jobs.mirror.rebuild import rebuild as rebuild
    from sumi.jobs.mirror.run import mirror as mirror
    from sumi.jobs.mirror.settings import MirrorSettings as MirrorSettings
    from sumi.jobs.mirror.sitemap_listing import Listing as Listing
    from sumi.jobs.mirror.sitemap_listing import sitemap as sitemap
    from sumi.jobs.pipeline.crawl import crawl as crawl
    from sumi.jobs.pipeline.replay import replay as replay
    from sumi.jobs.pipeline.run import run as run
    from sumi.jobs.pipeline.scrape import scrape as scrape
    from sumi.watching.watcher import watch as watch
    from sumi.watching.watcher import watch_status as watch_status

# Where each public name is; the list above says the same to type checkers.
_HOMES = {
    "Analysis": "jobs.map.analysis",
    "CaptureRun": "jobs.capture.run",
    "Captured": "jobs.capture.run",
    "Change": "corpus.change_feeds",
    "Captures": "jobs.capture.captures",
    "CheckedJob": "inspection.state",
    "Converted": "jobs.mirror.convert",
    "Control": "engine.control",
    "Difference": "jobs.map.diff",
    "Explanation": "inspection.explain",
    "Exported": "events",
    "Found": "corpus.searching",
    "Indexed": "corpus.indexing",
    "JobStatus": "inspection.status",
    "Listing": "jobs.mirror.sitemap_listing",
    "MirrorSettings": "jobs.mirror.settings",
    "PageDiff": "corpus.page_diffs",
    "PageOutline": "corpus.reading",
    "PagePart": "corpus.reading",
    "Plan": "jobs.mirror.plan",
    "SumiError": "errors",
    "Summary": "events",
    "analyze_map": "jobs.map.analysis",
    "capture": "jobs.capture.run",
    "check_state": "inspection.state",
    "convert": "jobs.mirror.convert",
    "crawl": "jobs.pipeline.crawl",
    "create_identity": "fetch.identity",
    "decide_map": "jobs.map.review",
    "diff_map": "jobs.map.diff",
    "review_map": "jobs.map.review",
    "directory_of": "fetch.identity",
    "diff": "corpus.change_log",
    "diffs_since": "corpus.change_log",
    "explain": "inspection.explain",
    "export": "exchange.export",
    "export_map": "jobs.map.export",
    "index": "corpus.indexing",
    "outline": "corpus.reading",
    "read": "corpus.reading",
    "search": "corpus.searching",
    "import_archives": "jobs.mirror.archive_import",
    "import_capture": "jobs.capture.archive_import",
    "feed": "corpus.change_log",
    "load_identity": "fetch.identity",
    "map": "jobs.map.run",
    "migrate_state": "inspection.state",
    "mirror": "jobs.mirror.run",
    "plan": "jobs.mirror.plan",
    "prune_history": "corpus.change_log",
    "rebuild": "jobs.mirror.rebuild",
    "repair_state": "inspection.state",
    "replay": "jobs.pipeline.replay",
    "run": "jobs.pipeline.run",
    "runs": "corpus.change_log",
    "scrape": "jobs.pipeline.scrape",
    "sitemap": "jobs.mirror.sitemap_listing",
    "status": "inspection.status",
    "versions": "corpus.change_log",
    "watch": "watching.watcher",
    "watch_status": "watching.watcher",
}
__all__ = [  # noqa: PLE0604 - the keys are strings
    "__version__",
    "sync",
    *_HOMES,
]


def __getattr__(name: str) -> object:
    if name == "sync":
        return importlib.import_module("sumi.sync")
    if name not in _HOMES:
        raise AttributeError(f"module 'sumi' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"sumi.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
