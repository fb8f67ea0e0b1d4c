"""Everything the commands do can be done from Python, in a few lines."""

import asyncio
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sumi
from sumi.cli.main import COMMANDS
from sumi.errors import Interrupted, UsageError
from sumi.events import Event, PageSettled
from tests.e2e.pipeline.run_site import PlainSite, configured_crawl, plain_site
from tests.site import MakeSite


def settings_for(url: str, output: Path) -> sumi.MirrorSettings:
    return sumi.MirrorSettings(url=url, output=str(output), rate_limit=0.0, min_free=0, processes=0)


def test_a_mirror_its_plan_and_its_list(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=12, seed=2)
    settings = settings_for(site.url, tmp_path / "output")
    heard: list[Event] = []

    async def main() -> None:
        listing = await sumi.sitemap(settings)
        plan = await sumi.plan(settings, sample=3)
        summary = await sumi.mirror(settings, listeners=[heard.append])
        assert plan.pages == len(listing.pages) > 0
        assert all(read.ok for read in listing.sitemaps)
        assert summary.discovered >= len(listing.pages)
        assert summary.outcomes["captured"] > 0

    asyncio.run(main())
    written = [event.path for event in heard if isinstance(event, PageSettled) and event.path]
    assert all((tmp_path / "output" / path).is_file() for path in written)


@pytest.mark.parametrize("moment", ["read", "captured"])
def test_a_plan_can_be_stopped_while_it_lists_and_while_it_samples(
    make_site: MakeSite, tmp_path: Path, moment: str
) -> None:
    site = make_site(pages=12, seed=2)
    control = sumi.Control()

    def stop_then(event: Event) -> None:
        if isinstance(event, PageSettled) and event.outcome == moment:
            control.stop()

    planned = sumi.plan(settings_for(site.url, tmp_path), sample=6, listeners=[stop_then], control=control)
    with pytest.raises(Interrupted):
        asyncio.run(planned)


def test_a_run_can_be_stopped_and_resumed(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=30, seed=2)
    settings = settings_for(site.url, tmp_path / "output")

    async def main() -> None:
        control = sumi.Control()
        stopped = await sumi.mirror(
            settings,
            listeners=[lambda event: control.stop() if isinstance(event, PageSettled) else None],
            control=control,
        )
        whole = await sumi.mirror(settings)
        assert stopped.status in ("interrupted", "aborted")
        assert whole.outcomes.get("pending", 0) == 0

    asyncio.run(main())


def test_what_a_user_would_be_told_is_raised(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot reach"):
        asyncio.run(sumi.mirror(settings_for("http://127.0.0.1:1/", tmp_path / "output")))


def test_settings_can_be_given_by_name_and_are_checked(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=5, seed=2)
    quick: dict[str, Any] = {"rate_limit": 0, "min_free": 0, "processes": 0}
    summary = sumi.sync.mirror(site.url, output=tmp_path / "output", max_pages=2, **quick)
    assert summary.outcomes["captured"] == 2
    rebuilt = sumi.sync.rebuild(tmp_path / "output", processes=0, dry_run=True)
    assert (rebuilt.pages, rebuilt.changed, rebuilt.problems) == (2, 0, 0)
    assert sumi.sync.rebuild(tmp_path / "output", processes=0) == rebuilt  # the first let go of the job
    with pytest.raises(UsageError, match="max_page is not a setting of a mirror; did you mean max_pages"):
        sumi.sync.mirror(site.url, max_page=3)
    with pytest.raises(UsageError, match="max_pages is 'many', but must be"):
        sumi.sync.plan(site.url, max_pages="many")
    with pytest.raises(UsageError, match="max_pages is given beside MirrorSettings"):
        sumi.sync.sitemap(sumi.MirrorSettings(url=site.url), max_pages=3)


def test_importing_sumi_loads_nothing_and_every_name_is_there() -> None:
    code = "import sys, sumi; print([name for name in sys.modules if name.startswith('sumi.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    for name in sumi.__all__:
        assert getattr(sumi, name) is not None
    assert set(sumi.__all__) <= set(dir(sumi))
    with pytest.raises(AttributeError, match="no attribute 'mirrors'"):
        _ = sumi.mirrors


def test_type_checkers_are_told_of_the_same_names() -> None:
    source = Path(str(sumi.__file__)).read_text()
    told = re.findall(r"^    from (\S+) import (\w+) as \2(?:  #.*)?$", source, re.MULTILINE)
    assert sorted(name for _, name in told) == sorted({*sumi.__all__} - {"__version__"})
    for home, name in told:
        assert getattr(sumi, name) is getattr(importlib.import_module(home), name)


def test_whatever_is_awaitable_can_be_called_plainly() -> None:
    awaitable = {name for name in sumi.__all__ if inspect.iscoroutinefunction(getattr(sumi, name))}
    assert set(sumi.sync.__all__) == awaitable


def test_every_command_is_in_the_guide_or_has_no_function() -> None:
    guide = (Path(__file__).parents[3] / "docs/guides/python.md").read_text()
    named = " ".join(re.findall(r"`([^`]*)`", guide.partition("## Settings")[0]))
    words = set(re.findall(r"[\w-]+", named))
    assert [one.name for one in COMMANDS if not {*one.name.split()} <= words] == []


def test_whoever_reads_pages_leaves_no_file_open(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=5, seed=2)
    output = tmp_path / "output"
    sumi.sync.mirror(settings_for(site.url, output))

    def read_all() -> int:
        sumi.sync.search('"the"', output)
        sumi.sync.read(site.url, output)
        sumi.sync.outline(site.url, output)
        sumi.versions(site.url, output)
        sumi.feed(output, diffs=True)
        sumi.sync.export("jsonl", output, output=tmp_path / "pages.jsonl")
        return len(os.listdir("/proc/self/fd"))

    (current,) = sumi.sync.index(output)
    assert (current.added, current.changed, current.gone, current.unreadable) == (0, 0, 0, 0)
    before = read_all()
    assert read_all() == before


def test_a_stored_job_is_looked_at_checked_and_carried(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=5, seed=2)
    output = tmp_path / "output"
    sumi.sync.mirror(settings_for(site.url, output))
    (job,) = sumi.sync.status(output)
    assert (job.job, job.target, job.process) == ("mirror", site.url, None)
    assert sumi.sync.explain(site.url, output).outcome == "captured"
    assert not sumi.sync.explain(f"{site.url}/never-heard-of", output).known
    assert [checked.findings for checked in sumi.sync.check_state(output, deep=True)] == [[]]
    page = next(path for path in output.rglob("*.md") if not path.name.startswith("_"))
    page.unlink()
    told: list[str] = []
    ((_, findings),) = sumi.sync.check_state(output)
    assert [finding.requeue is not None for finding in findings] == [True]
    sumi.sync.repair_state(output, tell=told.append)
    assert any(words.startswith("queued again: ") for words in told)
    carried = sumi.sync.migrate_state(output, tmp_path / "copy", "sqlite")
    assert (carried.number, carried.what) == (job.discovered, "URLs")
    with pytest.raises(UsageError, match="exists already"):
        sumi.sync.migrate_state(output, tmp_path / "copy")


def test_a_crawler_and_its_scraper_are_heard_and_stopped_together(tmp_path: Path) -> None:
    heard: list[Event] = []

    async def main(site: PlainSite) -> sumi.Summary:
        control = sumi.Control()

        def hear(event: Event) -> None:
            heard.append(event)
            if isinstance(event, PageSettled):
                control.stop("enough")

        config = configured_crawl(tmp_path, site)
        return await sumi.run(config, processes=0, min_free=0, listeners=[hear], control=control)

    with plain_site(pages=40, delay=0.2) as site:
        summary = asyncio.run(asyncio.wait_for(main(site), 120))
    assert (summary.job, summary.status) == ("run", "interrupted")
    assert summary.outcomes["pending"] > 0
    assert any(isinstance(event, PageSettled) for event in heard)
