"""Everything the commands do can be done from Python, in a few lines."""

import asyncio
from pathlib import Path

import pytest

from sumi.api import Control, MirrorSettings, list_site, mirror, plan_site
from sumi.errors import UsageError
from sumi.events import Event, PageSettled
from tests.site import MakeSite


def settings_for(url: str, output: Path) -> MirrorSettings:
    return MirrorSettings(url=url, output=str(output), rate_limit=0.0, min_free=0, processes=0)


def test_a_mirror_its_plan_and_its_list(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=12, seed=2)
    settings = settings_for(site.url, tmp_path / "output")
    heard: list[Event] = []

    async def main() -> None:
        listing = await list_site(settings)
        plan = await plan_site(settings, sample=3)
        summary = await mirror(settings, listeners=[heard.append])
        assert plan.pages == len(listing.pages) > 0
        assert summary.discovered >= len(listing.pages)
        assert summary.outcomes["captured"] > 0

    asyncio.run(main())
    written = [event.path for event in heard if isinstance(event, PageSettled) and event.path]
    assert all((tmp_path / "output" / path).is_file() for path in written)


def test_a_run_can_be_stopped_and_gone_on_with(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=30, seed=2)
    settings = settings_for(site.url, tmp_path / "output")

    async def main() -> None:
        control = Control()
        stopped = await mirror(
            settings,
            listeners=[lambda event: control.stop() if isinstance(event, PageSettled) else None],
            control=control,
        )
        whole = await mirror(settings)
        assert stopped.status in ("interrupted", "aborted")
        assert whole.outcomes.get("pending", 0) == 0

    asyncio.run(main())


def test_what_a_user_would_be_told_is_raised(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot reach"):
        asyncio.run(mirror(settings_for("http://127.0.0.1:1/", tmp_path / "output")))
