"""Several sites, mirrored in turn by one command."""

import pytest

from sumi.events import Summary
from sumi.jobs.mirror.settings import MirrorSettings
from sumi.jobs.mirror.several_sites import run_sites


class SteppedClock:
    seconds = 0.0

    def now(self) -> float:
        return self.seconds


def test_a_site_has_the_time_that_those_before_it_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SteppedClock()
    times: list[float | None] = []

    async def mirror(site: MirrorSettings, **_more: object) -> Summary:
        times.append(site.max_time)
        clock.seconds += 10.0
        return Summary("mirror", "complete", 0, {}, "output", 10.0)

    monkeypatch.setattr("sumi.jobs.mirror.several_sites.mirror", mirror)
    monkeypatch.setattr("sumi.jobs.mirror.several_sites.SystemClock", lambda: clock)
    run_sites([MirrorSettings(url=f"https://{name}.test/", max_time=60.0) for name in "abc"], ())
    assert times == [60.0, 50.0, 40.0]
