"""``sumi import --as capture``: one capture of all sites in web archives, without the network."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path

import msgspec

from sumi.assembly.more_pages import archived_roots
from sumi.engine.control import Control
from sumi.events import Listener
from sumi.jobs.capture.folder import CaptureFolder
from sumi.jobs.capture.run import Captured, capture
from sumi.jobs.capture.settings import CAPTURE_SETTINGS, CaptureSettings, capture_settings
from sumi.settings.sources import from_keywords
from sumi.state.folder import CAPTURES


async def import_capture(
    archives: str | PathLike[str] | Sequence[str],
    *,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
    **settings: object,
) -> Captured:
    """``sumi import --as capture``: the pages of WARC or WACZ files as a capture. ``settings`` are those of
    ``capture``. Run again with the same sites, it adds to the same job what is new."""
    files = [fspath(archives)] if isinstance(archives, str | PathLike) else list(archives)
    checked = from_keywords(settings, CAPTURE_SETTINGS, "capture")
    return await capture_archived(archived_capture(files, checked), listeners, control)


async def capture_archived(
    settings: CaptureSettings, listeners: Sequence[Listener] = (), control: Control | None = None
) -> Captured:
    return await capture(settings, listeners=listeners, control=control, job_id=earlier_import(settings))


def archived_capture(archives: Sequence[str], settings: Mapping[str, object]) -> CaptureSettings:
    """From values by field, each already checked."""
    fixed: dict[str, object] = {
        "url": archived_roots(archives),
        "replay": tuple(archives),
        "replay_unlinked": True,
        "respect_robots": False,  # it is about requests, and there are none
        "skip_cache": True,  # what is archived counts, not what was captured elsewhere
    }
    return capture_settings({**settings, **fixed})


def earlier_import(settings: CaptureSettings) -> str | None:
    """The job that an import of the same sites made."""
    folder = CaptureFolder(Path(settings.store))
    if not (folder.path / CAPTURES).is_file():
        return None
    with folder.reading() as database:
        for job in reversed(folder.jobs(database)):
            is_import = msgspec.json.decode(job.settings).get("replay_unlinked", False)
            if is_import and set(job.base_urls) == set(settings.urls):
                return job.id
    return None
