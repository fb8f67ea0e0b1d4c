"""Runs that look at a site before, or instead of, a mirror. Everything is in memory and gone afterwards."""

import random
from collections.abc import Sequence

from sumi.assembly.parts import new_digester, new_fetcher, run_loop, teller
from sumi.engine.control import Control, obeying_signals
from sumi.engine.io import Io, SystemClock
from sumi.engine.run import Crawl
from sumi.errors import Interrupted
from sumi.events import Listener
from sumi.jobs.mirror.listing import Listing, read_listing
from sumi.jobs.mirror.listing_recipe import listing_job
from sumi.jobs.mirror.nothing import NoOutput
from sumi.jobs.mirror.plan import Plan, SampleOutput, make_plan, sampling_job
from sumi.policy import Durability
from sumi.ports import Output
from sumi.recipe import Job
from sumi.settings import MirrorSettings
from sumi.state.memory import MemoryStore


def run_listing(settings: MirrorSettings, listeners: Sequence[Listener]) -> Listing:
    """The pages that the site's sitemaps list. Blocking; raises SumiError."""
    return run_loop(list_site(settings, listeners, Control()))


async def list_site(settings: MirrorSettings, listeners: Sequence[Listener], control: Control) -> Listing:
    store = await look_at(listing_job(settings), NoOutput(), listeners, control, settings.processes)
    return await read_listing(settings.url, store)


async def look_at(
    job: Job, output: Output, listeners: Sequence[Listener], control: Control, processes: int | None
) -> MemoryStore:
    """Run a job to its end in memory; what it learnt. Raises Interrupted where it did not get there: what is
    known then would be taken for all there is."""
    clock = SystemClock()
    store = MemoryStore(job.frontier, clock.now())
    fetcher = new_fetcher(job, clock, must_reach=True)
    digester = new_digester(processes, job.recipe.parse)
    io = Io(store, store, fetcher, digester, output, clock, teller(listeners), random.random)
    try:
        with obeying_signals(control):
            await Crawl(job.recipe, io, control, Durability.BATCH).run()
    finally:
        await fetcher.aclose()
        await digester.aclose()
    if control.was_stopped:
        raise Interrupted("interrupted before all was looked at: run the same command again")
    return store


def run_plan(settings: MirrorSettings, size: int, listeners: Sequence[Listener]) -> Plan:
    """A look at a site before it is mirrored: its lists, and ``size`` of its pages. Blocking."""
    return run_loop(plan_site(settings, size, listeners, Control()))


async def plan_site(
    settings: MirrorSettings, size: int, listeners: Sequence[Listener], control: Control
) -> Plan:
    listing = await list_site(settings, listeners, control)
    sample = SampleOutput()
    job = sampling_job(settings, listing.pages, size)
    store = await look_at(job, sample, listeners, Control(), settings.processes)
    return await make_plan(settings, job, listing, sample, store)
