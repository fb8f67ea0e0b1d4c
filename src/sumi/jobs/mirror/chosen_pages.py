"""Pages that a mirror takes though nothing on the site led to them, and those that an update asks for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sumi.assembly.more_pages import listed_pages, url_lists
from sumi.assembly.parts import STATE_FOLDER
from sumi.errors import StateError
from sumi.frontier.adaptive import RevisitBounds
from sumi.history.recorder import FOLDER as HISTORY
from sumi.history.store import DATABASE, History
from sumi.jobs.mirror.recipe import mirror_home
from sumi.jobs.mirror.settings import MirrorSettings, SiteOfList
from sumi.jobs.mirror.update import Adaptive
from sumi.model import Candidate
from sumi.policy import Preset, Revisit
from sumi.ports import UrlRecord
from sumi.recipe import Job
from sumi.scope import Scope
from sumi.urls import PRESETS


def pages_of_lists(settings: MirrorSettings, job: Job) -> Iterator[Candidate]:
    """A worker on another machine is without the lists, whose pages are in the state."""
    there = [path for path in settings.urls_from if Path(path).is_file()]
    pages = listed_pages(url_lists(there, settings.urls_column), PRESETS[Preset.MIRROR])
    ours = Scope(hosts=job.recipe.scope.hosts)
    only_ours = isinstance(settings, SiteOfList)
    return (page for page in pages if ours.judge(page) is None) if only_ours else pages


@contextmanager
def due_for_update(settings: MirrorSettings, now: float) -> Iterator[Callable[[UrlRecord], bool]]:
    """Whether an update asks for a page."""
    if settings.revisit is Revisit.ALL:
        yield lambda record: True
        return
    folder = Path(settings.output) / mirror_home(settings) / STATE_FOLDER / HISTORY
    history = None
    with suppress(StateError):  # a damaged history is set aside when the run writes to it
        history = History(folder) if (folder / DATABASE).is_file() else None
    try:
        yield Adaptive(history, now, RevisitBounds(settings.revisit_min, settings.revisit_max))
    finally:
        if history is not None:
            history.close()
