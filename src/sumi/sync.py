"""The awaitable functions of ``sumi`` for programs without an event loop: the same names, called plainly.

Each call runs in its own event loop until it is done, so it cannot be made while one is running.
"""

import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from sumi.assembly.parts import run_loop
from sumi.corpus.indexing import index as _index
from sumi.corpus.reading import outline as _outline
from sumi.corpus.reading import read as _read
from sumi.corpus.searching import search as _search
from sumi.exchange.export import export as _export
from sumi.inspection.explain import explain as _explain
from sumi.inspection.state import check_state as _check_state
from sumi.inspection.state import migrate_state as _migrate_state
from sumi.inspection.state import repair_state as _repair_state
from sumi.inspection.status import status as _status
from sumi.jobs.capture.archive_import import import_capture as _import_capture
from sumi.jobs.capture.run import capture as _capture
from sumi.jobs.map.run import map as _map
from sumi.jobs.mirror.archive_import import import_archives as _import_archives
from sumi.jobs.mirror.plan import plan as _plan
from sumi.jobs.mirror.rebuild import rebuild as _rebuild
from sumi.jobs.mirror.run import mirror as _mirror
from sumi.jobs.mirror.sitemap_listing import sitemap as _sitemap
from sumi.jobs.pipeline.crawl import crawl as _crawl
from sumi.jobs.pipeline.replay import replay as _replay
from sumi.jobs.pipeline.run import run as _run
from sumi.jobs.pipeline.scrape import scrape as _scrape
from sumi.watching.watcher import watch as _watch

__all__ = [
    "capture",
    "check_state",
    "crawl",
    "explain",
    "export",
    "import_archives",
    "import_capture",
    "index",
    "map",
    "migrate_state",
    "mirror",
    "outline",
    "plan",
    "read",
    "rebuild",
    "repair_state",
    "replay",
    "run",
    "scrape",
    "search",
    "sitemap",
    "status",
    "watch",
]

P = ParamSpec("P")
T = TypeVar("T")


def _plain(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    @functools.wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> T:
        return run_loop(function(*arguments, **options))

    return call


capture = _plain(_capture)
check_state = _plain(_check_state)
crawl = _plain(_crawl)
explain = _plain(_explain)
export = _plain(_export)
import_archives = _plain(_import_archives)
import_capture = _plain(_import_capture)
index = _plain(_index)
map = _plain(_map)  # noqa: A001 - as the command is called
migrate_state = _plain(_migrate_state)
mirror = _plain(_mirror)
outline = _plain(_outline)
plan = _plain(_plan)
read = _plain(_read)
rebuild = _plain(_rebuild)
repair_state = _plain(_repair_state)
replay = _plain(_replay)
run = _plain(_run)
scrape = _plain(_scrape)
search = _plain(_search)
sitemap = _plain(_sitemap)
status = _plain(_status)
watch = _plain(_watch)
