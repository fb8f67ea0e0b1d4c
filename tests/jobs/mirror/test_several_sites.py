"""The time limit is for all sites of a command together."""

import asyncio

import pytest

from sumi.events import Summary
from sumi.jobs.mirror.settings import MirrorSettings
from sumi.jobs.mirror.several_sites import run_sites


def test_a_site_has_the_time_that_those_before_it_left(monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[float | None] = []

    async def mirror(site: MirrorSettings, **_more: object) -> Summary:
        times.append(site.max_time)
        await asyncio.sleep(0.2)
        return Summary("mirror", "complete", 0, {}, "output", 0.2)

    monkeypatch.setattr("sumi.jobs.mirror.several_sites.mirror", mirror)
    run_sites([MirrorSettings(url=f"https://{name}.test/", max_time=60.0) for name in "abc"], ())
    first, second, third = (time or 0.0 for time in times)
    assert 60.0 >= first > second + 0.19 > third + 0.38
